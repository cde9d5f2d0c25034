// Package crashtest has no code but a test of the whole engine on a machine that
// loses its power: an executor with its journal, the audit log and a workspace, on
// two simulated disks and a simulated clock.
//
// A world (world_test.go) runs under one seed. It makes calls of many kinds,
// answers requests for consent, undoes, lets time pass and closes runs. At a random
// moment, between any two operations of the disks or inside of a handler, the power
// fails; another life begins with Executor.Recover on what is left, four times per
// seed. What callers and approvers were told, what handlers did to the outside and
// which notes were anchored is kept outside of the machine (model_test.go), as it
// was at the moment of the crash. The test checks the machine against that
// (check_test.go):
//
//   - an outcome that a caller received is the outcome, by Await and for the same call
//     again;
//   - an answer that was accepted counts, a grant that was given is there, and a
//     request of which an approver or a caller was told can be answered or has been;
//   - an effect of a tool that is not idempotent happens once at most, that of an
//     idempotent tool once per attempt that the tool declares;
//   - no program of a command has run whose process.started was not durable; after a
//     recovery none runs, the journal has one end of each, and no later recovery asks
//     for it;
//   - files are, to the byte, those of the calls that completed and were not undone,
//     and nothing is unsettled;
//   - what was archived, which happens at random moments, is in segments that the store names and that prove themselves: an
//     archived call answers from its segment, and where that is deleted call_id_reused, and its outcome there is the one that was told; it is not
//     undone any more; the store never begins further down than before;
//   - a call that an archive was to forget is known or not, and its id is refused to another call while its session is in memory; one that no archive
//     was to forget, or whose run is open, is known; a later call of a free id is another call;
//   - a segment that is not there was to be deleted, and an anchored checkpoint proves the record of that;
//   - the rules know what these outcomes say, by WhatIf and by the counts of the run;
//   - the audit log verifies, with all notes that were anchored;
//   - once a write or a sync has failed calls are denied journal_unavailable.
//
// There are two ways to crash. TestImages takes an image of what a crash would leave
// and puts it under the store while that is open, so that SQLite recovers it as it
// does at the start: opening the store costs more than all the rest of a life.
// TestPower cuts the power, or lets the disks fail, and opens everything anew.
//
//	AMBIT_BATTERY=200000 go test ./runtime/internal/crashtest -run Images -timeout 2h
//	go test ./runtime/internal/crashtest -run 'Images|Power' -seed 4711 -v
//
// A seed says what is done and when the power goes. Where calls of a batch run
// together the order of what they do to the disks is up to the scheduler.
package crashtest
