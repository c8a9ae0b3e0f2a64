"""Long work in the background."""

from playground.jobs.pool import Computation, JobHandle, JobPool, JobStatus, Request

__all__ = ["Computation", "JobHandle", "JobPool", "JobStatus", "Request"]
