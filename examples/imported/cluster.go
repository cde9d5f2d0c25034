package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A cluster stands in for the server of which list.json has the tools: a program would
// start that one, and write requests to its standard input.
type cluster struct{ releases map[string]string } // charts by name

// answer is a [server]. The example makes one call at a time.
func (c *cluster) answer(_ context.Context, request []byte) ([]byte, error) {
	var r struct {
		Params struct {
			Name      string
			Arguments struct{ Name, Chart string }
		}
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	said, failed := c.do(r.Params.Name, r.Params.Arguments.Name, r.Params.Arguments.Chart)
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": map[string]any{
		"content": []any{map[string]any{"type": "text", "text": said}}, "isError": failed,
	}})
}

func (c *cluster) do(tool, release, chart string) (said string, failed bool) {
	switch tool {
	case "helm_list":
		return strings.Join(slices.Sorted(maps.Keys(c.releases)), ", "), false
	case "helm_install":
		c.releases[release] = chart
		return release + " is deployed", false
	case "helm_uninstall":
		if c.releases[release] == "" {
			return "there is no release " + release, true
		}
		delete(c.releases, release)
		return release + " is uninstalled", false
	}
	return fmt.Sprintf("there is no tool %q", tool), true
}
