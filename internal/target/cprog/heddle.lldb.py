# heddle's commands for lldb: what heddle.gdb is for gdb. Importing it attaches to the program
# and runs it to main.
import lldb


def symbol(target, name):
    """The address of one of the runtime's symbols (runtime/c/core/debugger.c)."""
    for context in target.FindSymbols(name):
        address = context.symbol.addr.GetLoadAddress(target)
        if address != lldb.LLDB_INVALID_ADDRESS:
            return address
    raise LookupError(name + " is not in the program")


def value(process, name, size):
    error = lldb.SBError()
    number = process.ReadUnsignedFromMemory(symbol(process.target, name), size, error)
    if error.Fail():
        raise LookupError("%s cannot be read: %s" % (name, error))
    return number


def where(process):
    done = value(process, "heddle_event", 4)
    if done == 0:
        return "heddle: before event 0 of the trace, which has @EVENTS@"
    operation = process.ReadCStringFromMemory(value(process, "heddle_operation", 8), 100, lldb.SBError())
    return "heddle: event %d of the @EVENTS@ events of the trace: T%d, %s" % (done - 1, value(process, "heddle_thread", 4), operation)


def select(process, thread):
    """Select the thread's innermost frame that is the program's, not heddle's."""
    process.SetSelectedThread(thread)
    if not value(process, "heddle_called", 4):
        return
    low, high = value(process, "heddle_text_lo", 8), value(process, "heddle_text_hi", 8)
    for frame in thread:
        if not low <= frame.pc < high:
            thread.SetSelectedFrame(frame.idx)
            return


def stopped_at(thread, breakpoint):
    if thread.GetStopReason() != lldb.eStopReasonBreakpoint:
        return False
    hit = range(0, thread.GetStopReasonDataCount(), 2)
    return any(thread.GetStopReasonDataAtIndex(i) == breakpoint.GetID() for i in hit)


class Stops:
    """Run whenever the program has stopped."""

    def __init__(self, target, extra, internal):
        pass

    def handle_stop(self, context, stream):
        if stopped_at(context.thread, failure):
            stream.Print(where(context.process) + "\nheddle: the failure, in the thread that failed\n")
            select(context.process, context.thread)


def at_a_stop(command):
    """A command for a program that stands, as it says otherwise."""

    def checked(debugger, arguments, context, result, internal):
        if context.process.GetState() == lldb.eStateStopped:
            command(debugger, context.process, result, *arguments.split())
        else:
            result.SetError("the program has ended, or is running")

    checked.__doc__ = command.__doc__
    return checked


@at_a_stop
def heddle_where(debugger, process, result):
    """Say which event of the trace was done last."""
    result.AppendMessage(where(process))


@at_a_stop
def heddle_frame(debugger, process, result):
    """Select the innermost frame of the program, not of heddle."""
    select(process, process.GetSelectedThread())
    debugger.HandleCommand("frame select")


@at_a_stop
def heddle_next(debugger, process, result):
    """Run to the next event of the trace, in whatever thread."""
    event.SetEnabled(True)
    resume(debugger, process)
    if process.GetState() == lldb.eStateStopped:
        thread = process.GetSelectedThread()
        if stopped_at(thread, event):
            select(process, thread)
        debugger.HandleCommand("frame select")
        if not stopped_at(thread, failure):  # Stops has said it
            result.AppendMessage(where(process))
    event.SetEnabled(False)  # not earlier: then it did not cause the stop


@at_a_stop
def heddle_goto(debugger, process, result, number):
    """Run until event N of the trace has been done."""
    done = value(process, "heddle_event", 4)
    if done > int(number) + 1:
        result.SetError("event %s is over: replay again to go there" % number)
        return
    if done < int(number) + 1:
        there = process.GetTarget().BreakpointCreateByName("heddle_at_event")
        there.SetCondition("*(unsigned *)&heddle_event == %d" % (int(number) + 1))
        resume(debugger, process)
        if process.GetState() == lldb.eStateStopped and stopped_at(process.GetSelectedThread(), there):
            select(process, process.GetSelectedThread())
            debugger.HandleCommand("frame select")
        process.GetTarget().BreakpointDelete(there.GetID())
    if process.GetState() == lldb.eStateStopped:
        result.AppendMessage(where(process))


def resume(debugger, process):
    """Continue, and come back when the program has stopped."""
    async_ = debugger.GetAsync()
    debugger.SetAsync(False)
    process.Continue()
    debugger.SetAsync(async_)


def __lldb_init_module(debugger, internal):
    global event, failure
    quietly = lambda command: debugger.GetCommandInterpreter().HandleCommand(command, lldb.SBCommandReturnObject())
    for command in "where", "frame", "next", "goto":
        quietly("command script add -f %s.heddle_%s heddle-%s" % (__name__, command, command))
    async_ = debugger.GetAsync()
    debugger.SetAsync(False)
    error = lldb.SBError()
    target = debugger.CreateTarget("")
    process = target.AttachToProcessWithID(debugger.GetListener(), @PID@, error)
    debugger.SetAsync(async_)
    if error.Fail():
        print("heddle: the program cannot be attached to: %s" % error)
        return
    debugger.SetSelectedTarget(target)
    quietly("process handle SIGURG --notify false --pass true --stop false")
    quietly("process handle SIGSYS --notify false --pass true --stop false")
    event = target.BreakpointCreateByName("heddle_at_event")
    event.SetEnabled(False)
    failure = target.BreakpointCreateByName("heddle_at_failure")
    target.BreakpointCreateByAddress(value(process, "heddle_main", 8)).SetOneShot(True)
    quietly("target stop-hook add -P %s.Stops" % __name__)
    resume(debugger, process)
    print("heddle: at main. continue: run to the failure; heddle-next: to the next event; heddle-goto N: to event N; heddle-where")
