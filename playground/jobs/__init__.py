"""Long work in the background."""

from playground.jobs.computation import Computation, JobStatus, Request
from playground.jobs.pool import JobHandle, JobPool

__all__ = ["Computation", "JobHandle", "JobPool", "JobStatus", "Request"]
