-- The calls of a tool and of a run, in the order of their entries, and those that were opened since a time.
CREATE INDEX call_tool ON call (tool, first);
CREATE INDEX call_run ON call (run, first);
CREATE INDEX call_opened_at ON call (opened_at, first);
