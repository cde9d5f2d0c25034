// Package redact keeps sensitive values out of what an executor tells and records:
// [Secrets] removes them from texts, [Payloads] puts them apart from the leaves of
// a journal, and [Schema] says whether an output can have what a policy wants masked.
//
// Nothing here is safe for concurrent use, but for a parsed Schema.
package redact
