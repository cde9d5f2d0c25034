// Package terminal asks the person at a terminal for consent.
//
//	asker, err := terminal.New("alice", os.Stdin, os.Stderr)     // ErrNoTerminal without a terminal
//	exec, err := engine.NewExecutor(reg, policy, engine.WithApprover(asker))
//	go asker.Serve(ctx, exec)                                    // prompts, and answers through exec.Decide
//
// An Approver is a client of Executor.Decide like any other: it can do nothing
// that a console or another program could not. The program that starts it says who
// sits at the terminal; that must be an id that the session's principal cannot take
// on. Notify refuses requests that this person may not answer, so that a call that no
// approver may answer is denied consent_unavailable and does not wait.
//
// # What is shown
//
// The tool and what it does to the world, on whose behalf, which rules ask and
// where they stand, the arguments as a table, the preview of the tool, with
// colors when it is a unified diff, when the request expires, and who has
// approved already. Long values and previews are cut, and the choice v shows all
// of them. Arguments are as the handler will get them; what is sensitive is
// masked unless the declaration reveals it.
//
// Everything that comes from a model, a policy or a declaration goes through
// Escape: escape sequences, bidirectional and zero-width characters, unusual
// spaces and bytes that are no UTF-8 are written out, and no line of a preview
// begins where a line of the dialogue does.
//
// # What can be answered
//
//	y  once: this call and no other
//	e  again: and equal calls, for a while or for the session
//	a  alike: and calls with the same values, or beginnings, of some arguments   where the declaration allows cover args
//	t  any: and every call of the tool                                           where it allows cover tool
//	n  no, with a reason, which the model is told
//
// What an approval stores is shown before it is stored, and a standing one has to
// be confirmed. There is no default: an empty line asks again. What was typed
// before the question answers nothing, and the end of the input, ^D, ends Serve
// and leaves requests open.
//
// # Answers from code
//
// Func makes an approver of a function, which is how a program, a test or a flag
// such as -yes answers.
package terminal
