"""What Prometheus reads of the caches that visitors share."""

from collections.abc import Iterator

from prometheus_client import REGISTRY, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from playground.web.session.random_weights import RandomWeights
from playground.web.session.sized_cache import SizedCache


class CacheMetrics(Collector):
    """Bytes, hits and misses of each cache, by its name."""

    def __init__(self, **caches: SizedCache | RandomWeights) -> None:
        self.caches = caches

    def collect(self) -> Iterator[Metric]:
        """Read the caches as they are."""
        size = GaugeMetricFamily("playground_cache_bytes", "Bytes in use.", labels=["cache"])
        hits = CounterMetricFamily("playground_cache_hits", "Results that were there.", labels=["cache"])
        misses = CounterMetricFamily("playground_cache_misses", "Results that were computed.", labels=["cache"])
        for name, cache in self.caches.items():
            size.add_metric([name], cache.size)
            hits.add_metric([name], cache.hits)
            misses.add_metric([name], cache.misses)
        yield from (size, hits, misses)


def publish_cache_metrics(**caches: SizedCache | RandomWeights) -> None:
    """Have Prometheus read these caches from now on; once in a process."""
    REGISTRY.register(CacheMetrics(**caches))
