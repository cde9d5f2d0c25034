// Package consent keeps the requests for people's consent, and what they granted.
//
//	book := consent.NewBook(key)
//	q := &consent.Question{Call: call, Requirement: requirement, Reasons: reasons}
//	if grant, ok := book.Match(now, q); ok {
//		event, err := book.UseGrant(now, grant.ID, q) // just before the handler
//	}
//	event, err := book.Ask(now, id, nonce, q)
//	store(event); book.Apply(&event)                 // then tell the approvers
//
//	event = book.Decide(now, id, &consent.Answer{By: "alice", Approve: true})
//	store(event); book.Apply(&event)                 // then tell alice what became of it
//
//	event, err = book.Use(now, id, q, false)        // just before the handler
//	store(event); book.Apply(&event)                 // with the intent to start it
//
// # A state machine without side effects
//
// A [Book] reads no clock, makes no random numbers, starts no goroutine and never
// blocks: instants, ids and nonces are arguments. Its other methods check and
// return an [Event] each, and change nothing; [Book.Apply] changes the book and
// checks nothing but the order of the events. The caller stores each event before
// it applies it, so that a crash loses no answer that was given, and [Replay]
// rebuilds the same book from the same events. An event that was made of an older
// state cannot be applied (ErrStale), so that of concurrent answers only one is
// accepted, even if the caller holds no lock between Decide and Apply. A Book is
// for one session, or for many; only [Book.Prune] removes entries from it. [Books] hold
// a book for each session, so that each can be stored and read alone.
//
// # What is approved
//
// An approval holds for a digest of the tool, the pin of its declaration, the
// final arguments, the preview, the principal, the session, the question, the
// expiry and the nonce. Each has its length before it. The question is what the
// rules ask (codes, messages, approvers, quorum and cover) and what the policy
// obliges the call to; an edit of the policy that leaves these alone, or moves them
// to other lines, leaves the approval alone too. Arguments are
// taken in the form that equal values share (wire.AppendCanonical), from the
// value that policy and handler see. [Book.Use] computes all of it once more from
// what is about to run. What differs is listed as a [Change], and the call does
// not run. The approval is used up by the start of the handler, however it ends,
// and by a mismatch.
//
// # Who may answer
//
// [Merge] joins the declaration and all asks: the approvers that all of them name,
// the highest quorum, the shortest timeout, the narrowest cover. A policy narrows
// and never widens; without a common approver, or with fewer of them than the
// quorum, the executor denies the call and makes no request. An empty list of
// approvers means any id but the principal's. The principal's own answer is
// SelfApproval, unless the declaration allows it.
//
// All answers go through [Book.Decide]. It rejects an answer for the first reason of
// [Rejection] that applies, which changes nothing but is an event. A quorum counts
// distinct ids and a repeated one is Recorded. One denial ends the request.
// An edit gets a new binding and resets the quorum to its author, who must be
// permitted to approve the edited terms. An answer at the instant Expires is too late.
//
// # Grants
//
// An approval [Once] is for its call. [ForDuration] and [ForSession] leave a [Grant]
// for later calls of the tool by the same principal in the same session: with equal
// arguments, with arguments that meet all of some predicates, or with any; MaxCover
// caps that, and MaxFor the time of one for a duration. Predicates that there are
// none of cover the tool. With a quorum the grant is what all approvers have offered:
// the shortest time and the narrowest cover. Decide's Result shows it before it is
// stored.
//
// A grant answers a question if it asks for nothing more than the grant was given
// for: all rules that ask are among those that asked then, the declaration is the
// same one, those who gave it could be asked now and are enough, and its cover is
// not wider than allowed now. It ends at its expiry, when it is revoked, and when the
// rules that asked are removed ([Book.Retire]). A sub-agent needs grants of its own: a
// grant holds for the Agent that it was given to.
//
// # Secrets
//
// Values that are marked sensitive are masked in requests, by their length and a
// digest under the book's key. The digests of arguments are made under it too, so
// that a reader without the key cannot find a short secret by trying values. [Show]
// makes what an approver sees; members that the declaration reveals are in it and in
// no event. A predicate cannot name a masked member.
//
// # Time and ends
//
// [Book.Due] makes the reminders and expiries that are due, the reminder always
// first, of at most [AtOnce] requests at a time, and [Book.Next] says when it will.
// [Book.Off] switches consent off for at most an hour. [Book.Prune] forgets what has
// ended, and [Book.Snapshot] returns what is left, from which [Restore] makes a Book that
// goes on.
package consent
