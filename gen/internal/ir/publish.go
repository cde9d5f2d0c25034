package ir

func (b *builder) publish() {}
func (b *builder) specs()   {}
