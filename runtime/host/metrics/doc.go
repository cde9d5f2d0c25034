// Package metrics counts what an executor does, for Prometheus and as JSON.
//
//	m := metrics.New(registry)
//	exec, err := engine.NewExecutor(registry, policy, engine.WithCounter(m))
//	...
//	mux.Handle("/metrics", m.Handler(exec))
//
// A Metrics is a [runtime.Counter]: the executor calls it in every transition of a call, and not
// through the queue of a sink. So its counts are those of the journal, however slow sinks are. Figures
// of the moment, such as how many calls wait for consent, come from the Stats of the executor when
// the page is asked for.
//
// # Labels
//
// The label tool is a name of the registry, or _unknown for every name that a model invented. The
// other labels are of closed sets: outcome, reason, event, answer, limit. No session, run, call, path,
// principal or text is in a metric, so that neither a model nor a user can add series or place text there.
package metrics
