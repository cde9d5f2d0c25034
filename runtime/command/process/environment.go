package process

import "strings"

// MarkVariable is the variable that names the call of a process.
const MarkVariable = "AMBIT_CALL"

// DefaultPath is the PATH of a process that declares none.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

// Environment returns the variables of a job, with the defaults for those that it does not set.
// HOME and TMPDIR are the private folder.
func (job *Job) Environment(private string) []string {
	env := append([]string{}, job.Env...)
	if job.Mark != "" {
		env = append(env, MarkVariable+"="+job.Mark)
	}
	for _, d := range [][2]string{
		{"HOME", private}, {"TMPDIR", private}, {"PATH", DefaultPath},
		{"LANG", "C.UTF-8"}, {"TZ", "UTC"}, {"TERM", "dumb"}, {"NO_COLOR", "1"},
	} {
		set := false
		for _, e := range job.Env {
			set = set || strings.HasPrefix(e, d[0]+"=")
		}
		if !set {
			env = append(env, d[0]+"="+d[1])
		}
	}
	return env
}
