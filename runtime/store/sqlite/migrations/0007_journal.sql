-- What the entries say is in leaf. The columns up to mark are its index. mac has one byte of
-- flags, the authenticator of the row in 32 bytes, how the authenticator of the previous entry of
-- the session begins in 16, and how many positions back that entry is: 0 when there is none.
CREATE TABLE entry (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER,          -- nanoseconds since 1970 UTC; NULL: no time
  kind    TEXT NOT NULL,
  session TEXT NOT NULL,
  run     TEXT NOT NULL,
  call    TEXT NOT NULL,
  tool    TEXT NOT NULL,
  mark    INTEGER NOT NULL, -- 1 opened, 2 started, 3 ended, 4 an undo began, 5 it ended
  leaf    BLOB NOT NULL,
  mac     BLOB NOT NULL
) STRICT;

CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry BEGIN
  SELECT RAISE(ABORT, 'entries are never changed');
END;

-- One row per segment. Entries up to the largest last are in segments; rows of them that are still here
-- are about to be deleted.
CREATE TABLE segment (
  last INTEGER PRIMARY KEY, -- the last entry that it has
  data BLOB NOT NULL,       -- JSON: the first and the last entry, the file and its digest, and the authenticator of the last entry
  mac  BLOB NOT NULL
) STRICT;

CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry WHEN old.seq > (SELECT coalesce(max(last), 0) FROM segment) BEGIN
  SELECT RAISE(ABORT, 'entries are deleted only when they are archived');
END;

-- What may be erased, apart from the leaves.
CREATE TABLE private (
  seq     INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  data    BLOB NOT NULL
) STRICT;

-- One row per call: what its entries up to owner.indexed amount to.
CREATE TABLE call (
  first     INTEGER PRIMARY KEY, -- its first entry
  session   TEXT NOT NULL,
  call      TEXT NOT NULL,
  run       TEXT NOT NULL,
  tool      TEXT NOT NULL,
  last      INTEGER NOT NULL,    -- its last entry
  kind      TEXT NOT NULL,       -- of its last entry
  opened    INTEGER,             -- the entry that opened it
  started   INTEGER,
  ended     INTEGER,
  opened_at INTEGER,
  ended_at  INTEGER,
  entries   TEXT NOT NULL,       -- all of them: 7,8,12
  undoing   INTEGER,             -- the entry that began an undo, which has not ended; not positive: there is none
  unknown   INTEGER,             -- likewise: that ended it with an unknown outcome, which no later one resolved
  UNIQUE (session, call)
) STRICT;

CREATE INDEX call_unfinished ON call (first) WHERE opened IS NOT NULL AND ended IS NULL;
CREATE INDEX call_undoing ON call (first) WHERE undoing > 0;
CREATE INDEX call_unknown ON call (first) WHERE unknown > 0;

-- The calls of a session, of a tool and of a run in the order of their entries, and those that were opened since a time.
CREATE INDEX call_tool ON call (tool, first);
CREATE INDEX call_run ON call (run, first);
CREATE INDEX call_opened_at ON call (opened_at, first);
CREATE INDEX call_session ON call (session, first);

-- The calls of an id, in parts: an index of ids alone, which are random, would write a page for each call.
CREATE INDEX call_id ON call (first >> 13, call);

-- What the entries after that amount to, which are at most 127.
CREATE VIEW call_news AS SELECT
  min(seq) AS first, session, call, max(run) AS run, max(tool) AS tool, max(seq) AS last,
  substr(max(printf('%020d', seq) || kind), 21) AS kind,
  max(CASE mark WHEN 1 THEN seq END) AS opened,
  min(CASE mark WHEN 2 THEN seq END) AS started,
  CASE WHEN max(CASE mark WHEN 3 THEN seq END) > coalesce(max(CASE mark WHEN 1 THEN seq END), 0)
    THEN max(CASE mark WHEN 3 THEN seq END) END AS ended, -- not when it was opened again
  max(CASE mark WHEN 1 THEN at END) AS opened_at,
  CASE WHEN max(CASE mark WHEN 3 THEN seq END) > coalesce(max(CASE mark WHEN 1 THEN seq END), 0)
    THEN max(CASE mark WHEN 3 THEN at END) END AS ended_at,
  group_concat(seq, ',') AS entries,
  -- The last entry that says so, negative when it says the opposite; NULL: no entry says anything.
  max(CASE WHEN mark IN (4, 5) THEN seq END) * CASE WHEN max(CASE mark WHEN 4 THEN seq END) > coalesce(max(CASE mark WHEN 5 THEN seq END), 0) THEN 1 ELSE -1 END AS undoing,
  max(CASE WHEN mark IN (1, 3) OR kind IN ('tool.reconciled', 'tool.undone') THEN seq END) * CASE WHEN max(CASE WHEN mark = 3 AND kind NOT IN ('tool.completed', 'tool.failed', 'tool.denied', 'tool.aborted', 'tool.rolled_back') THEN seq END) > coalesce(max(CASE WHEN mark = 1 OR mark = 3 AND kind IN ('tool.completed', 'tool.failed', 'tool.denied', 'tool.aborted', 'tool.rolled_back') OR kind IN ('tool.reconciled', 'tool.undone') THEN seq END), 0) THEN 1 ELSE -1 END AS unknown
FROM entry WHERE seq > (SELECT indexed FROM owner) AND call <> '' GROUP BY session, call;

-- The calls that have no entries after that, and those that have: together all.
CREATE VIEW call_settled AS
SELECT first, session, call, run, tool, last, kind, opened, started, ended, opened_at, ended_at, undoing, unknown
FROM call WHERE (session, call) NOT IN (SELECT session, call FROM call_news);

CREATE VIEW call_moving AS
SELECT coalesce(c.first, n.first) AS first, n.session AS session, n.call AS call,
  coalesce(nullif(c.run, ''), n.run) AS run, coalesce(nullif(c.tool, ''), n.tool) AS tool, n.last AS last, n.kind AS kind,
  coalesce(n.opened, c.opened) AS opened, coalesce(c.started, n.started) AS started,
  CASE WHEN n.opened IS NULL THEN coalesce(n.ended, c.ended) ELSE n.ended END AS ended,
  coalesce(n.opened_at, c.opened_at) AS opened_at,
  CASE WHEN n.opened IS NULL THEN coalesce(n.ended_at, c.ended_at) ELSE n.ended_at END AS ended_at,
  coalesce(n.undoing, c.undoing) AS undoing,
  coalesce(n.unknown, c.unknown) AS unknown
FROM call_news n LEFT JOIN call c ON c.session = n.session AND c.call = n.call;

-- One row per request for consent: what all entries say of it, and of the grant that came of it, which has its id. The
-- row without an id has the entries that say which rules were retired.
CREATE TABLE request (
  id      TEXT NOT NULL,
  session TEXT NOT NULL,
  call    TEXT NOT NULL,
  asked   INTEGER NOT NULL, -- its first entry
  steps   TEXT NOT NULL,    -- its entries, and what each changes: 7a12g (journal.What)
  used    INTEGER NOT NULL, -- the last entry with a use of the grant; 0: there is none
  expires INTEGER NOT NULL, -- when it stops taking answers
  until   INTEGER NOT NULL, -- when its grant ends by itself
  open    INTEGER NOT NULL, -- 1: nothing has ended it but, perhaps, time
  live    INTEGER,          -- likewise its grant; NULL: there is none
  PRIMARY KEY (id, session)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_asked ON request (asked);
CREATE INDEX request_call ON request (call, session);
CREATE INDEX request_open ON request (expires) WHERE open = 1;
CREATE INDEX request_granted ON request (asked) WHERE live IS NOT NULL;
CREATE INDEX request_live ON request (until) WHERE live = 1;

-- How far a session goes, as of owner.indexed. The owner does not believe it: the table node says it too.
CREATE TABLE session (
  id   TEXT PRIMARY KEY,
  last INTEGER NOT NULL -- its last entry
) STRICT, WITHOUT ROWID;

-- The tree of the sessions, as of owner.rooted. path is 1 and the digits that lead to the node.
CREATE TABLE node (
  path INTEGER PRIMARY KEY,
  data BLOB NOT NULL
) STRICT;

CREATE TABLE state (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL,
  mac   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
  size INTEGER PRIMARY KEY, -- entries that it covers
  note BLOB NOT NULL,
  tail BLOB NOT NULL,       -- the authenticator of the last of them: an archive can end here
  mac  BLOB NOT NULL
) STRICT;

-- The names of the keys that were made. The keys are in a file of their own.
CREATE TABLE key (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- One row: who may write.
CREATE TABLE owner (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  store   BLOB NOT NULL,    -- the id that the file of the keys has, too
  epoch   INTEGER NOT NULL,
  pid     INTEGER NOT NULL,
  host    TEXT NOT NULL,
  since   INTEGER NOT NULL,
  beat    INTEGER NOT NULL,
  closed  INTEGER NOT NULL, -- 1: in good order
  indexed INTEGER NOT NULL, -- the entries that the tables call and session cover
  rooted  INTEGER NOT NULL, -- the entries that the tree of the sessions covers
  root    BLOB NOT NULL,    -- the digest of its first node; empty: there is none
  mac     BLOB NOT NULL     -- the authenticator of the two, and of entry rooted
) STRICT;

INSERT INTO owner VALUES (1, x'', 0, 0, '', 0, 0, 1, 0, 0, x'', x'');

CREATE TABLE migration (
  version INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT;
