package engine

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// recoverKeys returns the keys that a journal keeps apart from its entries: of the digests of inputs, and of requests for
// consent. A request of an earlier process can be approved only with the key that it was bound with. Both are own when the
// journal keeps none.
func recoverKeys(ctx context.Context, j journal.Journal, own []byte) (inputs, consent []byte, err error) {
	keeper, ok := j.(journal.Keeper)
	if !ok {
		return own, own, nil
	}
	if inputs, err = keeper.Key(ctx, "inputs"); err != nil {
		return nil, nil, fmt.Errorf("the key of inputs: %w", err)
	}
	if consent, err = keeper.Key(ctx, "consent"); err != nil {
		return nil, nil, fmt.Errorf("the key of requests for consent: %w", err)
	}
	return inputs, consent, nil
}
