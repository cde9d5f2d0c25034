package wire

func (f Format) match(s string) bool { return true }
