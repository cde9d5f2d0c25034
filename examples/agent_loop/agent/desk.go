package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/examples/agent_loop/refunds"
	"github.com/ambit-tools/ambit/runtime"
)

// desk carries out the tools on books that it keeps in memory.
type desk struct {
	mu     sync.Mutex
	cases  int64
	orders map[string]*order
}

type order struct{ paid, refunded int64 }

var _ refunds.Handler = (*desk)(nil)

// NewDesk returns a desk with two orders in its books.
func NewDesk() refunds.Handler {
	return &desk{orders: map[string]*order{"1017": {paid: 4900}, "1018": {paid: 1250}}}
}

// CaseOpen implements refunds.Handler.
func (d *desk) CaseOpen(ctx context.Context, _ *refunds.CaseOpenInput) (*refunds.CaseOpenOutput, error) {
	out := new(refunds.CaseOpenOutput)
	err := runtime.Commit(ctx, func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.cases++
		out.Case = d.cases
		return nil
	})
	return out, err
}

// OrderFind implements refunds.Handler.
func (d *desk) OrderFind(_ context.Context, in *refunds.OrderFindInput) (*refunds.OrderFindOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, err := d.find(in.Order)
	if err != nil {
		return nil, err
	}
	return &refunds.OrderFindOutput{Paid: o.paid, Refunded: o.refunded}, nil
}

// find returns an order. The lock is held.
func (d *desk) find(number string) (*order, error) {
	o, ok := d.orders[number]
	if !ok {
		return nil, fmt.Errorf("there is no order %s", number)
	}
	return o, nil
}

// PreviewRefund implements refunds.Handler: what the manager sees.
func (d *desk) PreviewRefund(_ context.Context, in *refunds.RefundInput) (runtime.Preview, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, err := d.find(in.Order)
	if err != nil {
		return runtime.Preview{}, err
	}
	text := fmt.Sprintf("--- order %s\n+++ order %s\n@@ -1,2 +1,2 @@\n paid     %5d\n-refunded %5d\n+refunded %5d\n",
		in.Order, in.Order, o.paid, o.refunded, o.refunded+in.Cents)
	return runtime.Preview{MediaType: "text/x-diff", Text: text}, nil
}

// Refund implements refunds.Handler.
func (d *desk) Refund(ctx context.Context, in *refunds.RefundInput) (*refunds.RefundOutput, error) {
	out := new(refunds.RefundOutput)
	err := runtime.Commit(ctx, func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		o, err := d.find(in.Order)
		if err != nil {
			return err
		}
		if o.refunded+in.Cents > o.paid {
			return fmt.Errorf("order %s cost %d cents, of which %d are refunded", in.Order, o.paid, o.refunded)
		}
		o.refunded += in.Cents
		out.Refunded = o.refunded
		return nil
	})
	return out, err
}

// OrderHistory implements refunds.Handler.
func (d *desk) OrderHistory(_ context.Context, in *refunds.OrderHistoryInput) (*refunds.OrderHistoryOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, err := d.find(in.Order)
	if err != nil {
		return nil, err
	}
	events := []string{fmt.Sprintf("paid: %d cents", o.paid)}
	for day := 1; day <= 20; day++ {
		events = append(events, fmt.Sprintf("day %d: the parcel was at station %d", day, 100+day))
	}
	return &refunds.OrderHistoryOutput{Events: append(events, "delivered")}, nil
}

// CaseClose implements refunds.Handler.
func (d *desk) CaseClose(context.Context, *refunds.CaseCloseInput) (*refunds.CaseCloseOutput, error) {
	return &refunds.CaseCloseOutput{}, nil
}

// Reply implements refunds.Handler.
func (d *desk) Reply(context.Context, *refunds.ReplyInput) (*refunds.ReplyOutput, error) {
	return &refunds.ReplyOutput{}, nil
}
