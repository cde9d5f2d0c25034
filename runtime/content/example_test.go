package content_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/runtime/content"
)

func Example() {
	dir, err := os.MkdirTemp("", "content")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := content.Open(dir)
	check(err)
	defer store.Close()
	ref, err := store.Put(ctx, []byte("a long output"))
	check(err)
	fmt.Println(ref.Size, ref.SHA256[:16])
	data, err := store.Get(ctx, ref)
	check(err)
	fmt.Println(string(data))
	// Output:
	// 13 84f03f41e256f645
	// a long output
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
