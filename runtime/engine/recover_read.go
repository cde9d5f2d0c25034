package engine

import (
	"context"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/holdings"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// readSessions reads what recovery needs of j: what belongs to no session, and the sessions in which something is to be settled.
// These are the ones in which a call or an undo has begun and not ended, in which the outcome of a call is unknown or
// a process has no recorded end, and those of parts (SEMANTICS 6.7.12). held gets what the other sessions have.
func readSessions(
	ctx context.Context, j journal.Journal, engine *rules.Engine, key []byte, held *holdings.Ledger, parts *undecidedParts,
) (*history.History, error) {
	common, err := history.ReadSession(ctx, j, engine, key, "")
	if err != nil {
		return nil, err
	}
	if err := held.Read(ctx, j, common.Others); err != nil {
		return nil, err
	}
	sessions, err := j.Open(ctx)
	if err != nil {
		return nil, err
	}
	sessions = append(append(sessions, held.Unsettled()...), parts.sessions()...)
	slices.Sort(sessions)
	h, err := history.ReadSessions(ctx, j, engine, key, common, slices.Compact(sessions))
	if err != nil {
		return nil, err
	}
	h.Last, h.LastAt = held.Last()
	return h, nil
}

// sessions returns the sessions of the calls and undos whose parts participants hold.
func (p *undecidedParts) sessions() (list []string) {
	for key := range p.left {
		if key.Session != "" {
			list = append(list, key.Session)
		}
	}
	return list
}

// loadSession reads a session that recovery did not, because nothing in it was to be settled; nil: j has no entry of it.
func loadSession(j journal.Journal, engine *rules.Engine, key []byte, session string) (of *history.Single, err error) {
	err = usercode.Call(func() (err error) {
		of, err = history.Load(context.Background(), j, engine, key, session)
		return err
	})
	if err == nil && of != nil {
		err = of.Settled()
	}
	if err != nil {
		return nil, err
	}
	return of, nil
}
