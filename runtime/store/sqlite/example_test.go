package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A call is recorded; another process looks at it.
func Example() {
	dir, err := os.MkdirTemp("", "ambit")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "ambit.db")

	store, err := sqlite.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	err = store.Append(ctx, []journal.Entry{
		{Seq: 1, At: time.Now(), Kind: "tool.validated", Session: "s", Call: "c1", Tool: "file_read", Mark: journal.MarkOpened, Leaf: []byte(`{}`)},
		{Seq: 2, At: time.Now(), Kind: "tool.started", Session: "s", Call: "c1", Tool: "file_read", Mark: journal.MarkStarted, Leaf: []byte(`{}`)},
	})
	if err != nil {
		log.Fatal(err)
	}

	reader, err := sqlite.OpenReader(path)
	if err != nil {
		log.Fatal(err)
	}
	calls, err := reader.Calls(ctx, sqlite.CallFilter{Unfinished: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range calls {
		fmt.Println(c.Tool, c.Call, c.Kind)
	}
	if err := reader.Close(); err != nil {
		log.Fatal(err)
	}
	if err := store.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: file_read c1 tool.started
}
