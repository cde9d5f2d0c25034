-- The calls of a session in the order of their entries.
CREATE INDEX call_session ON call (session, first);
