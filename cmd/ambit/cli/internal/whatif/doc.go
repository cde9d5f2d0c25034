// Package whatif holds the verbs that say what would become of calls. They execute
// no handler and write nothing.
package whatif
