"""Long work in the background."""

from playground.jobs.backend import Computation, JobBackend, JobHandle, JobStatus, Request
from playground.jobs.local import JobQueue
from playground.jobs.member import Member
from playground.jobs.shared import SharedRuns

__all__ = ["Computation", "JobBackend", "JobHandle", "JobQueue", "JobStatus", "Member", "Request", "SharedRuns"]
