package inbox

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/tokens"
)

// Tokens keeps bearer tokens: a [tokens.File]. The process that serves streams to their holders
// changes it, so that a revoked token ends them.
type Tokens interface {
	Add(ctx context.Context, t tokens.Token) error
	Revoke(ctx context.Context, name string) error
}

// WithTokens lets the user who owns the store make and revoke bearer tokens. Without it a Server
// rejects these commands with RejectedUnknownKind.
func WithTokens(t Tokens) Option { return func(s *Server) { s.tokens = t } }

// changeTokens executes a command to make or to revoke a token. The operator policy is not asked: it
// decides what the holder may do, and who owns the store could write the file of the tokens himself.
func (c *Command) changeTokens(ctx context.Context) CommandResult {
	res := CommandResult{Result: resultRejected}
	var err error
	switch {
	case c.tokens == nil:
		res.Reason = RejectedUnknownKind
		return res
	case c.Method != runtime.MethodOwner:
		res.Reason = string(action.CodeNotPermitted)
		return res
	case c.Kind == CommandTokenCreate:
		err = c.tokens.Add(ctx, *c.Token)
	default:
		err = c.tokens.Revoke(ctx, c.Token.Name)
	}
	switch {
	case errors.Is(err, tokens.ErrUnknown):
		res.Reason = RejectedUnknownToken
	case errors.Is(err, tokens.ErrInvalid), errors.Is(err, tokens.ErrExists):
		res.Reason, res.Error = RejectedBadArguments, err.Error()
	case err != nil:
		res.Reason, res.Error = RejectedTokens, err.Error()
	default:
		res.Done, res.Result = true, runtime.ResolutionAccepted.String()
	}
	return res
}
