"""Long work in the background."""

from playground.jobs.backend import JobBackend, JobHandle, JobStatus
from playground.jobs.local import JobQueue

__all__ = ["JobBackend", "JobHandle", "JobQueue", "JobStatus"]
