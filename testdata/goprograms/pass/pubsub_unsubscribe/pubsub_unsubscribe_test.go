package pubsubunsubscribe

import "testing"

func TestTopic(t *testing.T) {
	topic := new(Topic)
	s := topic.Subscribe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		topic.Publish("news")
		topic.Publish("more")
	}()
	select {
	case m := <-s.ch:
		if m != "news" {
			t.Errorf("got %q", m)
		}
	default: // nothing yet
	}
	topic.Unsubscribe(s)
	<-done
}
