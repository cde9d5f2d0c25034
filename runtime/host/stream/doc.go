// Package stream shows what calls and requests for consent do to programs and browsers, as it happens,
// and takes answers from them.
//
// Events are those of the journal, each once it is durable, as CloudEvents 1.0. Their id is their
// position in the journal, so a client that resumes after the last one it has seen misses none and gets
// none twice. A [Stream] has two handlers: [Stream.Socket] for programs (WebSocket), and
// [Stream.Events] for browsers (server-sent events). A host serves both (host.Config.Serve).
//
// Who reads must be authenticated ([Authenticator]). What a reader gets is decided by the operator
// policy, entry by entry: tool events need the act audit, events about requests see or audit. The
// arguments behind a question are shown, with what the declaration reveals, to those who may decide.
//
// No reader delays a call or another reader. One that takes nothing for a while is told how many
// entries it missed and where to resume, and its stream ends.
package stream
