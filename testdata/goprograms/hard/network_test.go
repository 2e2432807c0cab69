package hard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// A server and three clients on the loopback interface.
func TestHTTP(t *testing.T) {
	var mu sync.Mutex
	served := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		served++
		mu.Unlock()
		fmt.Fprintf(w, "hello %s", r.URL.Path)
	}))
	defer s.Close()
	client := s.Client()
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			resp, err := client.Get(fmt.Sprintf("%s/%d", s.URL, i))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if want := fmt.Sprintf("hello /%d", i); err != nil || string(b) != want {
				t.Errorf("%q, %v, want %q", b, err, want)
			}
		}()
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	if served != 3 {
		t.Error("served", served)
	}
}

// A connection whose reader has a deadline that passes, and then none.
func TestDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	read := make(chan bool)
	go func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		<-read
		fmt.Fprintln(c, "late")
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || !err.(net.Error).Timeout() {
		t.Error(n, err)
	}
	c.SetReadDeadline(time.Time{})
	close(read)
	if s, err := bufio.NewReader(c).ReadString('\n'); s != "late\n" {
		t.Errorf("%q %v", s, err)
	}
}

func TestPipe(t *testing.T) {
	a, b := net.Pipe()
	done := make(chan string)
	go func() {
		s, _ := io.ReadAll(b)
		done <- string(s)
	}()
	fmt.Fprint(a, "over ")
	fmt.Fprint(a, "the pipe")
	a.Close()
	if s := <-done; s != "over the pipe" {
		t.Error(s)
	}
}
