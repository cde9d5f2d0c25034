package metrics

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/process"
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
type period struct{ name, json, help string }

var periods = [spans]period{
	spanCall:    {"ambit_call_duration_seconds", "call", "Time from a call to its outcome."},
	spanHandler: {"ambit_handler_duration_seconds", "handler", "Time in the handlers of a call, of all attempts."},
	spanPolicy:  {"ambit_policy_duration_seconds", "policy", "Time in the policy of calls that it evaluated."},
	spanQueue:   {"ambit_queue_wait_seconds", "queue", "Time that calls waited for a slot of their tool."},
	spanConsent: {"ambit_consent_wait_seconds", "consent", "Time that calls waited for consent."},
	spanUndo:    {"ambit_undo_duration_seconds", "undo", "Time of undos, also of those that failed."},
}

// A gauge is a figure of the Stats.
type gauge struct {
	name, json, kind, help string
	of                     func(*runtime.Stats) uint64
}

var gauges = [...]gauge{
	{"ambit_calls_in_flight", "in_flight", "gauge", "Calls that the executor works on, without those that wait for consent.", func(s *runtime.Stats) uint64 { return positive(s.InFlight) }},
	{"ambit_handlers_running", "running", "gauge", "Handlers that run.", func(s *runtime.Stats) uint64 { return positive(s.Running) }},
	{"ambit_calls_queued", "queued", "gauge", "Calls that wait for a slot of their tool.", func(s *runtime.Stats) uint64 { return positive(s.Queued) }},
	{"ambit_calls_waiting", "waiting", "gauge", "Calls that wait for consent.", func(s *runtime.Stats) uint64 { return positive(s.Waiting) }},
	{"ambit_handlers_lingering", "lingering", "gauge", "Handlers that still run although their call has ended.", func(s *runtime.Stats) uint64 { return positive(s.Lingering) }},
	{"ambit_commands_running", "commands", "gauge", "Commands whose process runs.", func(s *runtime.Stats) uint64 { return uint64(len(s.Processes)) }},
	{"ambit_evaluations_abandoned", "abandoned", "gauge", "Evaluations of the policy that still run although their time was over.", func(s *runtime.Stats) uint64 { return positive(s.Abandoned) }},
	{"ambit_late_results_total", "late_results", "counter", "Results that came after their call had ended.", func(s *runtime.Stats) uint64 { return s.LateResults }},
	{"ambit_calls_refused_total", "at_capacity", "counter", "Calls refused at_capacity at once, without an event.", func(s *runtime.Stats) uint64 { return s.AtCapacity }},
	{"ambit_events_dropped_total", "dropped", "counter", "Events and faults that sinks and the error handler did not take in time.", func(s *runtime.Stats) uint64 { return s.Dropped }},
	{"ambit_journal_up", "journal_up", "gauge", "1 when the journal takes entries, or there is none.", journalUp},
}

// sizes are the families of sizes, in bytes.
var sizes = [...]struct {
	name, help string
	of         func(*tool) *atomic.Uint64
}{
	{"ambit_input_bytes_total", "Size of the inputs of calls.", func(t *tool) *atomic.Uint64 { return &t.input }},
	{"ambit_output_bytes_total", "Size of the outputs of handlers.", func(t *tool) *atomic.Uint64 { return &t.output }},
	{"ambit_artifact_bytes_total", "Size of the outputs that were stored as artifacts.", func(t *tool) *atomic.Uint64 { return &t.artifact }},
	{"ambit_live_bytes_total", "Size of the live output that handlers reported.", func(t *tool) *atomic.Uint64 { return &t.live }},
	{"ambit_live_dropped_bytes_total", "Size of the live output that was dropped, because it was too much or the policy masks it.", func(t *tool) *atomic.Uint64 { return &t.dropped }},
}

// usages are the families of what processes have used, from the Stats.
var usages = [...]struct {
	name, mode, kind, help string // mode: the value of a label, if there is one
	of                     func(*process.Usage) float64
}{
	{cpuSeconds, "user", "counter", "CPU time of processes of commands.", func(u *process.Usage) float64 { return u.User.Seconds() }},
	{cpuSeconds, "system", "counter", "", func(u *process.Usage) float64 { return u.System.Seconds() }},
	{"ambit_process_peak_memory_bytes", "", "gauge", "The most memory that a process of a command has used, with all below it.", func(u *process.Usage) float64 { return float64(u.PeakMemory) }},
	{"ambit_process_memory_bytes", "", "gauge", "Memory of the processes that run.", func(u *process.Usage) float64 { return float64(u.Memory) }},
	{"ambit_process_tasks", "", "gauge", "Processes and threads of the commands that run.", func(u *process.Usage) float64 { return float64(u.Processes) }},
	{"ambit_process_read_bytes_total", "", "counter", "Bytes that processes of commands have read from disks.", func(u *process.Usage) float64 { return float64(u.ReadBytes) }},
	{"ambit_process_written_bytes_total", "", "counter", "Bytes that processes of commands have written to disks.", func(u *process.Usage) float64 { return float64(u.WriteBytes) }},
}

const cpuSeconds = "ambit_process_cpu_seconds_total"

func journalUp(s *runtime.Stats) uint64 {
	if s.Journal != nil {
		return 0
	}
	return 1
}

// positive returns n, which several goroutines change one after the other.
func positive(n int) uint64 { return uint64(max(n, 0)) }
