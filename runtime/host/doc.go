// Package host opens an executor with all that it needs in production, in one call:
// a durable store, its audit log and its feed, contents, recovery, the inbox of operators' commands, and
// policies that are reloaded.
//
//	h, err := host.Open(ctx, host.Config{
//		Tools:    shop.Tools(refunds{}),
//		Policies: os.DirFS("shop/policy"),
//		Dir:      "var",
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	go serve(h.Executor)       // sessions, runs, turns, until its calls are denied shutting_down
//	log.Print(h.Run(ctx))      // until SIGTERM or SIGINT comes, or ctx ends
//
// # Files
//
//	var/ambit.db            the journal, with ambit.db.keys, ambit.db.inbox and what SQLite keeps with it
//	var/ambit.db.audit      signs the audit log; ambit.db.audit.pub verifies it
//	var/ambit.db.anchor     the notes that were signed
//	var/ambit.db.objects    outputs that are too long for the journal, and what files were before a call
//	var/ambit.db.tokens     hashes of the bearer tokens of those who reach it over HTTP
//	var/ambit.db.undo       the logs of the workspace
//
// Config.Store gives them another name than ambit.db. The command line takes
// --store var/ambit.db, and for audit verify --key and --anchor.
//
// A process that can write the journal and the anchor can replace both. Set
// Config.Anchor to a volume or a service that it cannot write (docs/audit.md).
//
// # Order
//
// Open checks tools and policies before it touches a file. It recovers before the
// inbox is served, so that no command is imported for a call that is not known yet, and serves HTTP
// last (Config.Serve). Run and Close stop the inbox and the streams, shut the executor down, end the subscriptions of the feed, and close
// the audit log before the store that it writes to. What Open has opened before an error is closed again.
//
// Package runtime/engine documents what the journal is for. docs/durability.md says what survives what.
package host
