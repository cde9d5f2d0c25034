package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ambit-tools/ambit/runtime"
)

// The families that are not of a table in families.go.
var (
	callsDesc      = desc("ambit_calls_total", "Calls that have their outcome.", "tool", "outcome", "reason")
	deprecatedDesc = desc("ambit_deprecated_calls_total", "Calls of deprecated tools that have their outcome.", "tool")
	limitDesc      = desc("ambit_limit_violations_total", "Calls that exceeded a limit.", "tool", "limit")
	eventsDesc     = desc("ambit_events_total", "Transitions of calls, by the kind of their event.", "tool", "event")
	answersDesc    = desc("ambit_consent_answers_total", "Answers to requests for consent.", "tool", "answer")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Collector returns the metrics of an executor for a registry of Prometheus, beside those of the
// application. Handler serves them alone. Series that have counted nothing are left out.
func (m *Metrics) Collector(of Source) prometheus.Collector { return collector{m, of} }

type collector struct {
	*Metrics
	of Source
}

// Describe implements prometheus.Collector.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{callsDesc, deprecatedDesc, limitDesc, eventsDesc, answersDesc} {
		to <- d
	}
	for i := range gauges {
		to <- gauges[i].desc
	}
	for i := range sizes {
		to <- sizes[i].desc
	}
	for i := range usages {
		to <- usages[i].desc
	}
	for i := range periods {
		to <- periods[i].desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	stats := c.of.Stats()
	for i := range gauges {
		to <- prometheus.MustNewConstMetric(gauges[i].desc, gauges[i].kind, float64(gauges[i].of(&stats)))
	}
	for i := range c.tools {
		c.tools[i].collect(to, c.names[i])
		usage := stats.Usage[c.names[i]]
		for j := range usages {
			if n := usages[j].of(&usage); n > 0 {
				labels := append([]string{c.names[i]}, usages[j].mode...)
				to <- prometheus.MustNewConstMetric(usages[j].desc, usages[j].kind, n, labels...)
			}
		}
	}
	for _, i := range c.old {
		count(to, deprecatedDesc, c.tools[i].total(), c.names[i])
	}
}

// collect sends the series of a tool.
func (of *tool) collect(to chan<- prometheus.Metric, name string) {
	for outcome := range of.calls {
		counts := of.calls[outcome].Load()
		if counts == nil {
			continue
		}
		for reason := range counts {
			count(to, callsDesc, counts[reason].Load(), name, outcomeNames[outcome], reasonNames[reason])
		}
	}
	for _, l := range limits {
		count(to, limitDesc, of.exceeded(l.reason), name, l.name)
	}
	for kind := range of.events {
		count(to, eventsDesc, of.events[kind].Load(), name, kindNames[kind])
	}
	for a := range of.answers {
		count(to, answersDesc, of.answers[a].Load(), name, answerNames[a])
	}
	for i := range sizes {
		count(to, sizes[i].desc, sizes[i].of(of).Load(), name)
	}
	var s summary
	for span := range periods {
		if h := of.times[span].Load(); h != nil {
			h.summarize(&s)
			to <- prometheus.MustNewConstHistogram(periods[span].desc, s.count, s.sum.Seconds(), s.upTo(scales[span]), name)
		}
	}
}

// count sends a series, unless it has counted nothing.
func count(to chan<- prometheus.Metric, d *prometheus.Desc, n uint64, labels ...string) {
	if n > 0 {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
}

// total returns how many calls have ended.
func (of *tool) total() (n uint64) {
	for reason := range reasons {
		n += of.exceeded(runtime.Reason(reason))
	}
	return n
}

// exceeded returns how many calls ended for a reason.
func (of *tool) exceeded(reason runtime.Reason) (n uint64) {
	for outcome := range of.calls {
		if counts := of.calls[outcome].Load(); counts != nil {
			n += counts[reason].Load()
		}
	}
	return n
}
