package interactive

import (
	"context"
	"fmt"

	"github.com/gdamore/tcell/v2"

	"github.com/heddle-dev/heddle/internal/report"
)

// Show lets the user step through a view on heddle's terminal, until they quit or ctx is cancelled. It
// returns the last debugger's command that they asked for, if any.
func Show(ctx context.Context, v *report.View, opt Options) (command string, err error) {
	// Locales that tcell does not know show at least ASCII.
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	tty, err := tcell.NewDevTty()
	var screen tcell.Screen
	if err == nil {
		screen, err = tcell.NewTerminfoScreenFromTty(&characters{Tty: tty})
	}
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return "", fmt.Errorf("cannot use this terminal: %w; heddle show draws the trace as text", err)
	}
	defer screen.Fini()
	return run(ctx, screen, v, opt), nil
}

// run shows a view on a screen that has been initialised.
func run(ctx context.Context, screen tcell.Screen, v *report.View, opt Options) (command string) {
	defer context.AfterFunc(ctx, func() { _ = screen.PostEvent(tcell.NewEventInterrupt(nil)) })()
	width, height := screen.Size()
	m := newModel(v, opt, width, height)
	for ctx.Err() == nil {
		m.draw(screen)
		switch e := screen.PollEvent().(type) {
		case nil, *tcell.EventError:
			return m.command // the screen has ended, or the terminal is gone
		case *tcell.EventResize:
			m.resize(e.Size())
			screen.Sync()
		case *tcell.EventKey:
			if m.key(e) {
				return m.command
			}
			if m.command != "" && !m.copied {
				screen.SetClipboard([]byte(m.command)) // terminals without OSC 52 ignore it
				m.copied = true
			}
		}
	}
	return m.command
}

// key carries out a key, and reports whether it ends the program.
func (m *model) key(e *tcell.EventKey) (quit bool) {
	if e.Key() == tcell.KeyCtrlC {
		return true
	}
	if m.typing {
		m.keyTyped(e)
		return false
	}
	m.message = ""
	if m.help { // any key closes it
		m.help = false
		return e.Rune() == 'q' && e.Key() == tcell.KeyRune
	}
	screenful := max(1, m.height/3)
	switch e.Key() {
	case tcell.KeyDown:
		m.step(1)
	case tcell.KeyUp:
		m.step(-1)
	case tcell.KeyRight:
		m.stepSwitch(1, false)
	case tcell.KeyLeft:
		m.stepSwitch(-1, false)
	case tcell.KeyEnter:
		m.toggleFold()
	case tcell.KeyPgDn:
		m.steps(screenful)
	case tcell.KeyPgUp:
		m.steps(-screenful)
	case tcell.KeyHome:
		m.first()
	case tcell.KeyEnd:
		m.at = len(m.rows)
	case tcell.KeyEscape:
		m.follow = ""
	case tcell.KeyRune:
		switch e.Rune() {
		case 'q':
			return true
		case 'j':
			m.step(1)
		case 'k':
			m.step(-1)
		case 'n':
			m.stepSwitch(1, false)
		case 'p':
			m.stepSwitch(-1, false)
		case 'N':
			m.stepSwitch(1, true)
		case 'P':
			m.stepSwitch(-1, true)
		case 'a':
			m.toggleAll()
		case 'f':
			m.toggleFollow()
		case '/':
			m.typing, m.typed = true, ""
		case ' ':
			m.steps(screenful)
		case 'b':
			m.steps(-screenful)
		case 'g':
			m.first()
		case 'G':
			m.at = len(m.rows)
		case 'd':
			m.showDebugger()
		case 's':
			m.below = (m.below + 1) % panes
		case '?':
			m.help = true
		default:
			m.message = fmt.Sprintf("%q does nothing: ? lists the keys", e.Rune())
		}
	}
	return false
}

// steps is many steps forwards, or backwards if n is negative.
func (m *model) steps(n int) {
	for range max(n, -n) {
		m.step(n / max(n, -n))
		if m.message != "" {
			return
		}
	}
}

// keyTyped is a key while a search is typed.
func (m *model) keyTyped(e *tcell.EventKey) {
	switch e.Key() {
	case tcell.KeyEscape:
		m.typing = false
	case tcell.KeyEnter:
		m.typing, m.message = false, ""
		m.search(m.typed)
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		runes := []rune(m.typed)
		if len(runes) == 0 {
			m.typing = false
			return
		}
		m.typed = string(runes[:len(runes)-1])
	case tcell.KeyRune:
		m.typed += string(e.Rune())
	}
}
