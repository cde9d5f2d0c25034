// Package simdisk is a disk that fails, for tests: below SQLite, and for the few
// files that a store keeps next to its database.
//
// What is written is lost in a crash unless it was synced, sector by sector; so
// are names that were made or removed and whose directory was not. A sync that
// fails loses what it should have written, and the next one succeeds without it,
// as on Linux. A seed decides what is lost.
//
//	disk, err := simdisk.New(seed)
//	defer disk.Close()
//	store, err := sqlite.Open("/store", sqlite.WithDisk(disk))
//	...
//	disk.CutAt(n) // the power fails at the n-th write or sync from now
//	...
//	store.Close()
//	disk.Crash() // what is found afterwards
//	store, err = sqlite.Open("/store", sqlite.WithDisk(disk))
package simdisk
