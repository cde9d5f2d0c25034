// Package webhook tells a receiver over HTTP what people must know of an executor: that consent is
// asked for, will soon expire or has ended, that the effect of a call is not known, that an undo failed.
//
// Requests have the headers and the signature of Standard Webhooks (standardwebhooks.com). The body
// holds ids, names and states. It holds arguments only where Endpoint.Arguments says so, and then without
// the values of members that are marked x-sensitive.
//
// # Delivery
//
// A Sender reads the feed of a store from a position that it keeps in a file, and moves the position
// after the receiver has acknowledged what was before it. So a message is sent at least once, whatever
// crashes. One that is sent twice has the same webhook-id both times. Messages come in the order of the
// journal: while one is not acknowledged, later ones wait.
package webhook
