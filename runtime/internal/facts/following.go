package facts

// A Following is the snapshots of one run as one principal, or sub-agent, sees it, one after the
// other. The zero value has none yet. It is not safe for concurrent use.
type Following struct {
	state   uint64    // version of the counts at the last comparison
	last    *Snapshot // the latest snapshot
	changed []int
}

// At returns the snapshot of the n tools of a registry while their counts have a version. It asks for
// the counts only when the version has changed. Two snapshots are the same pointer when no count has
// changed.
func (v *Following) At(version uint64, n int, counts func() (used, successes []int32)) *Snapshot {
	if v.last != nil && v.state == version {
		return v.last
	}
	v.state = version
	used, successes := counts()
	v.last = v.last.Next(n, used, successes, &v.changed)
	return v.last
}
