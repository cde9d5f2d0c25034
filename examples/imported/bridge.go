package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/examples/imported/helm"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A server answers a JSON-RPC request of the Model Context Protocol.
type server func(ctx context.Context, request []byte) ([]byte, error)

// A bridge implements the imported tools by the server that listed them.
type bridge struct{ server server }

var _ helm.Handler = bridge{}

// HelmInstall implements helm.Handler.
func (b bridge) HelmInstall(ctx context.Context, in *helm.HelmInstallInput) (*helm.HelmInstallOutput, error) {
	out := new(helm.HelmInstallOutput)
	err := runtime.Commit(ctx, func() (err error) {
		out.Extra, err = b.call(ctx, helm.HelmInstallName, in)
		return err
	})
	return out, err
}

// HelmList implements helm.Handler.
func (b bridge) HelmList(ctx context.Context, in *helm.HelmListInput) (*helm.HelmListOutput, error) {
	extra, err := b.call(ctx, helm.HelmListName, in)
	return &helm.HelmListOutput{Extra: extra}, err
}

// HelmUninstall implements helm.Handler.
func (b bridge) HelmUninstall(ctx context.Context, in *helm.HelmUninstallInput) (*helm.HelmUninstallOutput, error) {
	out := new(helm.HelmUninstallOutput)
	err := runtime.Commit(ctx, func() (err error) {
		out.Extra, err = b.call(ctx, helm.HelmUninstallName, in)
		return err
	})
	return out, err
}

// call sends tools/call and returns the members of the result.
func (b bridge) call(ctx context.Context, name string, in wire.Value) (map[string]wire.Raw, error) {
	arguments, violations := wire.Append(nil, in)
	if violations != nil {
		return nil, fmt.Errorf("the arguments: %v", violations)
	}
	request, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": name, "arguments": json.RawMessage(arguments)},
	})
	if err != nil {
		return nil, err
	}
	text, err := b.server(ctx, request)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result map[string]json.RawMessage
		Error  *struct{ Message string }
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		return nil, errors.New(answer.Error.Message)
	case string(answer.Result["isError"]) == "true":
		return nil, fmt.Errorf("the server says %s", answer.Result["content"])
	}
	out := make(map[string]wire.Raw, len(answer.Result))
	for name, value := range answer.Result {
		out[name] = wire.Raw(value)
	}
	return out, nil
}
