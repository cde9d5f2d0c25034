package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ambit-tools/ambit/runtime"
)

// The names of the labels' values.
var (
	kindNames    = names[runtime.EventKind](kinds)
	outcomeNames = names[runtime.OutcomeKind](outcomes)
	reasonNames  = names[runtime.Reason](reasons)
	answerNames  = [answers]string{"approved", "denied", "recorded", "rejected"}
)

// names returns the names of the first values of a closed set.
func names[T interface {
	~uint8
	String() string
}](n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = T(i).String()
	}
	return list
}

// limits are the reasons for which a call exceeded a limit, and the names of the limits.
var limits = [...]struct {
	reason runtime.Reason
	name   string
}{
	{runtime.ReasonDeadline, "time"},
	{runtime.ReasonMaxCalls, "calls"},
	{runtime.ReasonCooldown, "cooldown"},
	{runtime.ReasonAtCapacity, "concurrency"},
	{runtime.ReasonTooManyPending, "pending"},
	{runtime.ReasonOutputTooLarge, "output"},
}

// A period is the family of a span.
type period struct {
	desc *prometheus.Desc
	json string
}

var periods = [spans]period{
	spanCall:    {desc("ambit_call_duration_seconds", "Time from a call to its outcome.", "tool"), "call"},
	spanHandler: {desc("ambit_handler_duration_seconds", "Time in the handlers of a call, of all attempts.", "tool"), "handler"},
	spanPolicy:  {desc("ambit_policy_duration_seconds", "Time in the policy of calls that it evaluated.", "tool"), "policy"},
	spanQueue:   {desc("ambit_queue_wait_seconds", "Time that calls waited for a slot of their tool.", "tool"), "queue"},
	spanConsent: {desc("ambit_consent_wait_seconds", "Time that calls waited for consent.", "tool"), "consent"},
	spanUndo:    {desc("ambit_undo_duration_seconds", "Time of undos, also of those that failed.", "tool"), "undo"},
}

// A gauge is a figure of the Stats.
type gauge struct {
	desc *prometheus.Desc
	json string
	kind prometheus.ValueType
	of   func(*runtime.Stats) uint64
}

var gauges = [...]gauge{
	{desc("ambit_calls_in_flight", "Calls that the executor works on, without those that wait for consent."), "in_flight", prometheus.GaugeValue, func(s *runtime.Stats) uint64 { return positive(s.InFlight) }},
	{desc("ambit_handlers_running", "Handlers that run."), "running", prometheus.GaugeValue, func(s *runtime.Stats) uint64 { return positive(s.Running) }},
	{desc("ambit_calls_queued", "Calls that wait for a slot of their tool."), "queued", prometheus.GaugeValue, func(s *runtime.Stats) uint64 { return positive(s.Queued) }},
	{desc("ambit_calls_waiting", "Calls that wait for consent."), "waiting", prometheus.GaugeValue, func(s *runtime.Stats) uint64 { return positive(s.Waiting) }},
	{desc("ambit_handlers_lingering", "Handlers that still run although their call has ended."), "lingering", prometheus.GaugeValue, func(s *runtime.Stats) uint64 { return positive(s.Lingering) }},
	{desc("ambit_commands_running", "Commands whose process runs."), "commands", prometheus.GaugeValue, func(s *runtime.Stats) uint64 { return uint64(len(s.Processes)) }},
	{desc("ambit_evaluations_abandoned", "Evaluations of the policy that still run although their time was over."), "abandoned", prometheus.GaugeValue, func(s *runtime.Stats) uint64 { return positive(s.Abandoned) }},
	{desc("ambit_late_results_total", "Results that came after their call had ended."), "late_results", prometheus.CounterValue, func(s *runtime.Stats) uint64 { return s.LateResults }},
	{desc("ambit_calls_refused_total", "Calls refused at_capacity at once, without an event."), "at_capacity", prometheus.CounterValue, func(s *runtime.Stats) uint64 { return s.AtCapacity }},
	{desc("ambit_events_dropped_total", "Events and faults that sinks and the error handler did not take in time."), "dropped", prometheus.CounterValue, func(s *runtime.Stats) uint64 { return s.Dropped }},
	{desc("ambit_journal_up", "1 when the journal takes entries, or there is none."), "journal_up", prometheus.GaugeValue, journalUp},
}

// sizes are the families of sizes, in bytes.
var sizes = [...]struct {
	desc *prometheus.Desc
	of   func(*tool) *atomic.Uint64
}{
	{desc("ambit_input_bytes_total", "Size of the inputs of calls.", "tool"), func(t *tool) *atomic.Uint64 { return &t.input }},
	{desc("ambit_output_bytes_total", "Size of the outputs of handlers.", "tool"), func(t *tool) *atomic.Uint64 { return &t.output }},
	{desc("ambit_artifact_bytes_total", "Size of the outputs that were stored as artifacts.", "tool"), func(t *tool) *atomic.Uint64 { return &t.artifact }},
	{desc("ambit_live_bytes_total", "Size of the live output that handlers reported.", "tool"), func(t *tool) *atomic.Uint64 { return &t.live }},
	{desc("ambit_live_dropped_bytes_total", "Size of the live output that was dropped, because it was too much or the policy masks it.", "tool"), func(t *tool) *atomic.Uint64 { return &t.dropped }},
}

// usages are the families of what processes have used, from the Stats.
var usages = [...]struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	mode []string // the value of the label mode, if the family has it
	of   func(*runtime.ProcessUsage) float64
}{
	{cpuDesc, prometheus.CounterValue, []string{"user"}, func(u *runtime.ProcessUsage) float64 { return u.User.Seconds() }},
	{cpuDesc, prometheus.CounterValue, []string{"system"}, func(u *runtime.ProcessUsage) float64 { return u.System.Seconds() }},
	{desc("ambit_process_peak_memory_bytes", "The most memory that a process of a command has used, with all below it.", "tool"), prometheus.GaugeValue, nil, func(u *runtime.ProcessUsage) float64 { return float64(u.PeakMemory) }},
	{desc("ambit_process_memory_bytes", "Memory of the processes that run.", "tool"), prometheus.GaugeValue, nil, func(u *runtime.ProcessUsage) float64 { return float64(u.Memory) }},
	{desc("ambit_process_tasks", "Processes and threads of the commands that run.", "tool"), prometheus.GaugeValue, nil, func(u *runtime.ProcessUsage) float64 { return float64(u.Processes) }},
	{desc("ambit_process_read_bytes_total", "Bytes that processes of commands have read from disks.", "tool"), prometheus.CounterValue, nil, func(u *runtime.ProcessUsage) float64 { return float64(u.ReadBytes) }},
	{desc("ambit_process_written_bytes_total", "Bytes that processes of commands have written to disks.", "tool"), prometheus.CounterValue, nil, func(u *runtime.ProcessUsage) float64 { return float64(u.WriteBytes) }},
}

var cpuDesc = desc("ambit_process_cpu_seconds_total", "CPU time of processes of commands.", "tool", "mode")

func journalUp(s *runtime.Stats) uint64 {
	if s.Journal != nil {
		return 0
	}
	return 1
}

// positive returns n, which several goroutines change one after the other.
func positive(n int) uint64 { return uint64(max(n, 0)) }
