package docsite

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// The site works from disk: search, both colour schemes, the list beside the page, a narrow window.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(need.Tool(t, "chromium")), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	var mu sync.Mutex
	chromedp.ListenTarget(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			t.Error(e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			t.Errorf("console: %s", e.Type)
		}
	})
	do := func(actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	eval := func(expression string) (value any) {
		t.Helper()
		do(chromedp.Evaluate(expression, &value))
		return value
	}
	scheme := func(name string) chromedp.Action {
		return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}})
	}
	dir, _ := built(t)
	do(chromedp.EmulateViewport(1400, 900), scheme("light"), chromedp.Navigate("file://"+dir+"/findings/deadlock.html"), chromedp.WaitVisible("main", chromedp.ByQuery))

	const paper = `getComputedStyle(document.body).backgroundColor`
	if got := eval(paper); got != "rgb(255, 255, 255)" {
		t.Errorf("the light background is %v", got)
	}
	do(scheme("dark"))
	if got := eval(paper); got != "rgb(20, 24, 29)" {
		t.Errorf("the dark background is %v", got)
	}
	do(chromedp.Click("#theme", chromedp.ByQuery))
	if got := eval(paper); got != "rgb(255, 255, 255)" {
		t.Errorf("the background after a click on the button is %v", got)
	}

	if got := eval(`document.images[0].complete && document.images[0].naturalWidth > 100`); got != true {
		t.Error("the picture of the wait-for graph is not shown")
	}
	if got := eval(`document.querySelector('#topics [aria-current]').textContent`); got != "Deadlock" {
		t.Errorf("the current page is %v in the navigation", got)
	}
	do(chromedp.Evaluate(`document.getElementById('pitfalls').scrollIntoView()`, nil), chromedp.WaitVisible("aside a.here", chromedp.ByQuery))

	if got := eval(`document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', cancelable: true})) + document.activeElement.id`); got != "falsequery" {
		t.Errorf("the key / leads to %v", got)
	}
	do(chromedp.SendKeys("#query", "wait-for graph", chromedp.ByQuery), chromedp.WaitVisible("#results a.chosen mark", chromedp.ByQuery))
	if got := eval(`document.querySelector('#results a').textContent`); !strings.HasPrefix(got.(string), "Executions for other tools › Graphviz") {
		t.Fatalf("the first result for wait-for graph is %v", got)
	}
	do(chromedp.SendKeys("#query", "\r", chromedp.ByQuery), chromedp.WaitVisible("#graphviz", chromedp.ByQuery))
	if got := eval(`location.pathname.split('/').pop() + location.hash`); got != "exports.html#graphviz" {
		t.Errorf("the first result leads to %v", got)
	}

	// A phone: the text is as wide as the window, and topics are behind a button.
	do(chromedp.EmulateViewport(390, 800), chromedp.Navigate("file://"+dir+"/index.html"), chromedp.WaitVisible("#menu", chromedp.ByQuery))
	if got := eval(`document.documentElement.scrollWidth <= 390 && document.getElementById('topics').offsetParent === null`); got != true {
		t.Errorf("the page is %v pixels wide in a window of 390, or shows its topics", eval(`document.documentElement.scrollWidth`))
	}
	do(chromedp.Click("#menu", chromedp.ByQuery), chromedp.WaitVisible("#topics a", chromedp.ByQuery))

	// No page of the site is wider than a window of 1024.
	do(chromedp.EmulateViewport(1024, 800))
	for _, topic := range navigation {
		for _, l := range topic.Pages {
			do(chromedp.Navigate("file://"+dir+"/"+pageURL(l.File)), chromedp.WaitVisible("main", chromedp.ByQuery))
			if got := eval(`document.documentElement.scrollWidth`); got.(float64) > 1024 {
				t.Errorf("%s is %v pixels wide in a window of 1024", l.File, got)
			}
		}
	}
}
