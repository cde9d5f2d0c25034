package consent

// Held counts all that b remembers.
func (b *Book) Held() int {
	return len(b.requests) + b.open.Len() + len(b.waiting) + len(b.grants) + len(b.shelves)
}

// CountLooks counts the comparisons that b makes to keep its open requests in order.
func (b *Book) CountLooks() *int {
	b.open.looks = new(int)
	return b.open.looks
}
