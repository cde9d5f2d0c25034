// Package analyze finds mistakes in a set of rules before any call is made:
// tools that can never run, exit requirements that can never be met, rules that
// never decide anything.
//
// It is sound and says nothing that it cannot show: reachability comes from the
// exhaustive search of [rules.State.Unblock] in a fresh run, for one principal
// whose calls with order rules do not overlap, whatever is undone. Where that search gives up, in
// sets with very many entangled tools, only the mistakes that show in the names
// and edges themselves are reported.
package analyze
