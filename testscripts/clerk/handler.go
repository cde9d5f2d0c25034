package clerk

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
)

// handler carries out the tools. Notes are forgotten with the process.
type handler struct {
	mu    sync.Mutex
	notes map[string]string
}

var _ Handler = (*handler)(nil)

// NoteWrite implements Handler.
func (h *handler) NoteWrite(_ context.Context, in *NoteWriteInput) (*NoteWriteOutput, error) {
	if in.Text == "nothing" {
		return nil, errors.New("there is nothing to write")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes[in.Name] = in.Text
	return &NoteWriteOutput{Bytes: int64(len(in.Text))}, nil
}

// PrepareNoteWrite implements Handler.
func (h *handler) PrepareNoteWrite(_ context.Context, in *NoteWriteInput) (*NoteWriteUndo, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &NoteWriteUndo{Before: h.notes[in.Name]}, nil
}

// UndoNoteWrite implements Handler. It treats a note that says drift as changed since.
func (h *handler) UndoNoteWrite(_ context.Context, u *runtime.Undo[NoteWriteInput, NoteWriteUndo, NoteWriteOutput]) error {
	if u.Input.Text == "drift" {
		return runtime.ErrDrift
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes[u.Input.Name] = u.State.Before
	return nil
}

// NoteSend implements Handler.
func (h *handler) NoteSend(_ context.Context, in *NoteSendInput) (*NoteSendOutput, error) {
	return &NoteSendOutput{Sent: in.To}, nil
}

// BossSend implements Handler.
func (h *handler) BossSend(context.Context, *BossSendInput) (*BossSendOutput, error) {
	return &BossSendOutput{}, nil
}

// MailSend implements Handler.
func (h *handler) MailSend(context.Context, *MailSendInput) (*MailSendOutput, error) {
	return &MailSendOutput{}, nil
}

// NoteRead implements Handler.
func (h *handler) NoteRead(_ context.Context, in *NoteReadInput) (*NoteReadOutput, error) {
	return &NoteReadOutput{Text: strings.Repeat("la ", int(in.Times))}, nil
}

// Wait implements Handler.
func (h *handler) Wait(ctx context.Context, _ *WaitInput) (*WaitOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
