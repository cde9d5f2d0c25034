// Package examples holds policies to start from, each a folder with a declaration, Rego
// policies, their tests and scenarios. It has no Go code: its tests run what an author
// runs, so that the examples stay right.
//
//	folder            what it shows
//	business_hours    a deny for all tools that change something, with a time zone from data.json
//	four_eyes         asks: who approves, how many, and that no one approves their own call
//	spending_limit    amounts, limits from data.json, an optional argument, counts of a run
//	egress            an allow-list of hosts for every tool that uses the network
//
// `ambit check FOLDER` checks the policies of one and runs their tests; `ambit simulate
// --declaration FOLDER/tools.yaml FOLDER/scenarios.yaml` runs its scenarios.
package examples
