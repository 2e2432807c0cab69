set pagination off
set confirm off
set print thread-events off
set breakpoint pending on
handle SIGURG nostop noprint pass
handle SIGSYS nostop noprint pass

define heddle-frame
  if *(unsigned *)&heddle_called
    while (unsigned long)$pc >= *(unsigned long *)&heddle_text_lo && (unsigned long)$pc < *(unsigned long *)&heddle_text_hi
      up-silently
    end
    frame
  end
end
document heddle-frame
Select the innermost frame that is the program's, not heddle's.
end

define heddle-where
  if *(unsigned *)&heddle_event == 0
    printf "heddle: before event 0 of the trace, which has @EVENTS@\n"
  else
    printf "heddle: event %u of the @EVENTS@ events of the trace: T%u, %s\n", *(unsigned *)&heddle_event - 1, *(unsigned *)&heddle_thread, *(char **)&heddle_operation
  end
end
document heddle-where
Say which event of the trace was done last.
end

define heddle-next
  enable 1
  continue
  disable 1
  heddle-where
end
document heddle-next
Run to the next event of the trace, in whatever thread.
end

define heddle-goto
  if *(unsigned *)&heddle_event > $arg0 + 1
    printf "heddle: event %u is over: replay again to go there\n", $arg0
  else
    if *(unsigned *)&heddle_event < $arg0 + 1
      tbreak heddle_at_event if *(unsigned *)&heddle_event == $arg0 + 1
      commands
        silent
      end
      continue
      heddle-frame
    end
    heddle-where
  end
end
document heddle-goto
Run until event N of the trace has been done. A plain access is then the next instruction.
end

attach @PID@
break heddle_at_event
commands
  silent
  heddle-frame
end
disable 1
break heddle_at_failure
commands
  silent
  heddle-where
  echo heddle: the failure, in the thread that failed\n
  heddle-frame
end
tbreak **(long *)&heddle_main
continue
echo heddle: at main. continue: run to the failure; heddle-next: to the next event; heddle-goto N: to event N; heddle-where\n
@AT@