package engine

// Stats holds figures of an executor at one moment.
type Stats struct {
	InFlight   int    // calls that it works on, without those that wait for consent
	Lingering  int    // of these: handlers that still run although their call has ended
	AtCapacity uint64 // calls denied at_capacity so far
	Dropped    uint64 // events and faults that sinks and the error handler did not take in time, so far
}

// Stats returns figures of e. It is cheap, and safe for concurrent use.
func (e *Executor) Stats() Stats {
	if e == nil {
		return Stats{}
	}
	s := Stats{
		InFlight: int(e.capacity.inFlight.Load()), Lingering: int(e.lingering.Load()), AtCapacity: e.capacity.refused.Load(),
	}
	for _, q := range e.sinks {
		dropped, _ := q.Lost()
		s.Dropped += dropped
	}
	dropped, _ := e.faults.Lost()
	s.Dropped += dropped
	return s
}
