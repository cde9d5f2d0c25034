package anthropic_test

import (
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/ambit-tools/ambit/internal/wiretest"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/anthropic"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// streamed lets the tool runner of the SDK work by streams that a server answers with.
func streamed(t *testing.T, desk *wiretest.Desk, server *wiretest.Server) error {
	t.Helper()
	tools, err := models.Definitions(desk.Registry, dialect.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	turn := desk.Run.Turn(engine.TurnConfig{})
	c := client(server)
	runner := c.Beta.Messages.NewToolRunnerStreaming(anthropic.BetaTools(tools, func() *engine.Turn { return turn }), sdk.BetaToolRunnerParams{
		BetaMessageNewParams: sdk.BetaMessageNewParams{
			Model: "m", MaxTokens: 100, Messages: []sdk.BetaMessageParam{sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("Help."))},
		},
		MaxIterations: 4,
	})
	for events, err := range runner.AllStreaming(t.Context()) {
		if err != nil {
			return err
		}
		for _, err := range events {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// TestToolRunnerStreaming: the runner makes the calls of streams, and tells the model what came of them.
func TestToolRunnerStreaming(t *testing.T) {
	desk := wiretest.NewDesk(t)
	server := wiretest.Serve(t,
		stream(0, wiretest.Calls("case_open", `{"customer":"Ida"}`)),
		stream(1, wiretest.Calls("order_find", `{"order":"1017"}`, "order_find", `{"order":"1"}`)),
		stream(2, wiretest.Calls("refund", `{"order":"1017","cents":9007199254740993}`)),
		stream(3, wiretest.Step{Text: "Done."}))
	if err := streamed(t, desk, server); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int][]string{
		1: {`{\"outcome\":\"completed\",\"output\":{\"case\":1}}`},
		2: {`{\"paid\":4900,\"refunded\":0}`, `\"reason\":\"invalid_input\"`, `"is_error":true`},
		3: {`/cents: the number 9007199254740992 may have lost digits`},
	} {
		for _, text := range want {
			if !strings.Contains(server.Sent[n], text) {
				t.Errorf("request %d has no %s:\n%s", n, text, server.Sent[n])
			}
		}
	}
}

// TestToolRunnerBrokenStream: of a stream that ends before the arguments of a call do, the call does not run.
func TestToolRunnerBrokenStream(t *testing.T) {
	whole := stream(0, wiretest.Calls("case_open", `{"customer":"Ida"}`))
	stop := strings.Index(whole, "event: message_delta")
	for end := strings.Index(whole, "event: content_block_start"); end >= 0 && end < stop; {
		for _, cut := range []string{"", wiretest.Cut} {
			desk := wiretest.NewDesk(t)
			err := streamed(t, desk, wiretest.Serve(t, whole[:end]+cut, stream(1, wiretest.Step{Text: "Done."})))
			if n := desk.Run.Status().Invocations["case_open"]; n > 0 {
				t.Errorf("%d invocations, %v, of the stream that ends at\n%s", n, err, whole[max(0, end-200):end])
			}
		}
		next := strings.Index(whole[end+1:], "event:")
		if next < 0 {
			break
		}
		end += 1 + next
	}
}
