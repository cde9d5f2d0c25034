package cmdutil

// Exit codes. They are part of the command line's contract: "ambit help exit-codes".
const (
	ExitOK      = 0 // done
	ExitProblem = 1 // the input is wrong, or the work could not be done
	ExitUsage   = 2 // the command line is wrong
	ExitVerdict = 3 // the check ran, and its answer is no

	ExitNotAnchored = 4 // nothing wrong was found, and something is not proved
	ExitWaiting     = 5 // the command is in the inbox, and no executor has reported its result yet
)
