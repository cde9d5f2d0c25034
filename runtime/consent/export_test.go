package consent

// Held counts all that b remembers.
func (b *Book) Held() int {
	return len(b.requests) + len(b.asked) + len(b.open) + len(b.reminded) + len(b.grants) + len(b.granted) + len(b.shelves)
}
