package page

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
)

// browser is a headless Chromium with one page open.
type browser struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string // exceptions, errors on the console, requests for anything but the page
}

// chromium is the browser of all tests.
var chromium struct {
	once sync.Once
	ctx  context.Context
}

// open shows a page of an execution from disk, in a window of a size.
func open(t testing.TB, html []byte, fragment string, width, height int) *browser {
	t.Helper()
	path := need.Tool(t, "chromium")
	chromium.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(time.Minute))
		allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
		chromium.ctx, _ = chromedp.NewContext(allocator)
		if err := chromedp.Run(chromium.ctx); err != nil {
			t.Fatal(err)
		}
	})
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx)
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() { stop(); cancel() })
	b := &browser{t: t, ctx: ctx}
	url := "file://" + file + fragment
	chromedp.ListenTarget(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			b.problems = append(b.problems, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.problems = append(b.problems, fmt.Sprintf("console: %s", e.Type))
		case *network.EventRequestWillBeSent:
			if e.Request.URL != "file://"+file && e.Request.URL != "data:," {
				b.problems = append(b.problems, "request: "+e.Request.URL)
			}
		}
	})
	b.do(network.Enable(), chromedp.EmulateViewport(int64(width), int64(height)), chromedp.Navigate(url), chromedp.WaitVisible("main", chromedp.ByQuery))
	return b
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// close checks that nothing went wrong since the page was opened.
func (b *browser) close() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Error(p)
	}
}

// keys types keys.
func (b *browser) keys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// eval returns the value of an expression.
func eval[T any](b *browser, expression string) (out T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &out))
	return out
}

// current is the label of the selected row, as assistive technology reads it.
func (b *browser) current() string {
	b.t.Helper()
	return eval[string](b, `document.querySelector('.pane.fails .row.current, .pane .row.current')?.getAttribute('aria-label') ?? ''`)
}

// screenshot writes a picture to the directory $HEDDLE_SCREENSHOTS, if there is one.
func (b *browser) screenshot(name string) {
	dir := os.Getenv("HEDDLE_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.do(chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Error(err)
	}
}

// fixture is an execution of internal/testing/reporttest.
func fixture(t testing.TB, name string) Execution {
	tr, names := reporttest.Load(t, name)
	return Execution{Trace: tr, View: report.Build(tr, names, report.Options{}), Source: report.SourcesOf(tr, report.Options{}).Line}
}

func html(t testing.TB, e Execution, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, e, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// steps presses a key until there is nothing further, and returns the labels of what was selected.
func (b *browser) steps(key string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
	  const labels = [], current = () => document.querySelector('.row.current')?.getAttribute('aria-label') ?? '';
	  for (let i = 0; i < 5000; i++) {
	    labels.push(current());
	    document.querySelector('.scroller').dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true}));
	    if (document.querySelector('.status').textContent.startsWith('this is the')) return labels;
	  }
	  return [];
	})()`, key))
}
