"""Long work in the background."""

from playground.jobs.job import JobBackend, JobHandle, JobStatus, PortableRequest, Request
from playground.jobs.queue import JobQueue
from playground.jobs.shared_runs import Member, SharedRuns

__all__ = [
    "JobBackend",
    "JobHandle",
    "JobQueue",
    "JobStatus",
    "Member",
    "PortableRequest",
    "Request",
    "SharedRuns",
]
