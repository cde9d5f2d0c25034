// Package analyze finds mistakes in a set of rules before any call is made:
// tools that can never run, exit requirements that can never be met, rules that
// never decide anything.
//
// It is sound and reports only what it can prove: reachability comes from the
// exhaustive search of [rules.State.Unblock] in a fresh run, for one principal
// whose calls with order rules do not overlap, with any calls undone. Where that
// search gives up, in sets with very many tools that depend on each other, it reports
// only the mistakes that the names and edges themselves show.
package analyze
