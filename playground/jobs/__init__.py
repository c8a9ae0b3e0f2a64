"""Long work in the background."""

from playground.jobs.backend import Computation, JobBackend, JobHandle, JobStatus, Request
from playground.jobs.local import JobQueue
from playground.jobs.shared_runs import Member, SharedRuns

__all__ = ["Computation", "JobBackend", "JobHandle", "JobQueue", "JobStatus", "Member", "Request", "SharedRuns"]
