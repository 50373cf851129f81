"""Timetables against others: zoneinfo for zones, croniter and plain counting for cron.

The oracle for a time zone is its own: it takes what an expression names on a calendar without a
zone, lays that over the zone with Python's rules for skipped and repeated times, and knows
nothing of how the program searches.
"""
import datetime
import os
import pathlib
import random
import subprocess
import zoneinfo

import croniter

import expressions

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TICKS_BIN", str(ROOT / "build/dev/tests/ticks"))
SCALE = int(os.environ.get("ORACLE_SCALE", "2"))  # more for a longer look
UTC = datetime.timezone.utc
DAY = datetime.timedelta(days=1)
ZONES = """
    Europe/Berlin Europe/London Europe/Dublin Europe/Moscow Europe/Istanbul America/New_York
    America/St_Johns America/Sao_Paulo America/Caracas America/Havana America/Santiago
    Australia/Lord_Howe Australia/Sydney Africa/Casablanca Africa/Cairo Africa/Monrovia Asia/Kolkata
    Asia/Kathmandu Asia/Tehran Asia/Gaza Asia/Pyongyang Pacific/Apia Pacific/Kiritimati
    Pacific/Chatham Antarctica/Troll Antarctica/Casey Etc/GMT+5
""".split()
GAPS = ["auto", "next", "skip"]
OVERLAPS = ["auto", "first", "second", "both"]


def ask(questions):
    """The answers of the program, one for each."""
    text = "".join("\t".join(map(str, question)) + "\n" for question in questions)
    result = subprocess.run([PROGRAM], input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    answers = result.stdout.splitlines()
    assert len(answers) == len(questions)
    for question, answer in zip(questions, answers):
        assert "error" not in answer, (question[:7], answer)
    return [[int(word) for word in answer.split()] for answer in answers]


def at(seconds):
    return datetime.datetime.fromtimestamp(seconds, UTC)


def offset_of(zone, seconds):
    return int(at(seconds).astimezone(zone).utcoffset().total_seconds())


def transitions(zone, first_year=1970, last_year=2040):
    """Instants at which the offset changes, found by looking at every day and halving."""
    begin = int(datetime.datetime(first_year, 1, 1, tzinfo=UTC).timestamp())
    end = int(datetime.datetime(last_year + 1, 1, 1, tzinfo=UTC).timestamp())
    before = offset_of(zone, begin)
    for low in range(begin, end, 86400):
        after = offset_of(zone, low + 86400)
        if after == before:
            continue
        left, right = low, low + 86400
        while right - left > 1:
            middle = (left + right) // 2
            if offset_of(zone, middle) == before:
                left = middle
            else:
                right = middle
        yield right
        before = after


ALL_TRANSITIONS = {}


def transitions_of(name):
    if name not in ALL_TRANSITIONS:
        ALL_TRANSITIONS[name] = list(transitions(zoneinfo.ZoneInfo(name)))
    return ALL_TRANSITIONS[name]


# ---- zones ----

def test_offsets_agree_around_every_transition():
    questions, wanted = [], []
    for name in ZONES:
        zone = zoneinfo.ZoneInfo(name)
        instants = [change + delta for change in transitions_of(name) for delta in (-1, 0, 1)]
        instants += [int(datetime.datetime(year, month, 15, 12, tzinfo=UTC).timestamp())
                     for year in range(1900, 2500, 7) for month in (1, 7)]
        questions.append(["offset", name, *instants])
        wanted.append([offset_of(zone, instant) for instant in instants])

    for question, answer, offsets in zip(questions, ask(questions), wanted):
        wrong = [(instant, got, right) for instant, got, right
                 in zip(question[2:], answer, offsets) if got != right]
        assert not wrong, (question[1], wrong[:5])


def test_every_zone_of_the_machine_is_read():
    names = sorted(zoneinfo.available_timezones() - {"localtime"})
    instants = [-2000000000, 0, 1000000000, 1750000000, 1760000000, 5000000000, 5015000000]

    answers = ask([["offset", name, *instants] for name in names])

    for name, answer in zip(names, answers):
        zone = zoneinfo.ZoneInfo(name)
        assert answer == [offset_of(zone, instant) for instant in instants], name


# ---- cron in zones ----

def instants_of(zone, shown, changes, gap, overlap):
    """What becomes of one time on the clocks, by Python's rules of fold."""
    first = int(shown.replace(tzinfo=zone, fold=0).timestamp())
    second = int(shown.replace(tzinfo=zone, fold=1).timestamp())
    if at(first).astimezone(zone).replace(tzinfo=None) != shown:
        # Skipped: the change lies between what the offsets on both sides make of it.
        low, high = sorted((first, second))
        inside = [change for change in changes if low <= change <= high]
        assert len(inside) == 1, (shown, inside)
        return inside if gap == "next" else []
    if first == second:
        return [first]
    return {"first": [first], "second": [second], "both": [first, second]}[overlap]


def ticks_between(expression, zone, begin, end, changes, rules):
    """Instants in (begin, end], ascending."""
    gap, overlap = rules
    elapsed = expression.is_every_hour()
    if gap == "auto":
        gap = "skip" if elapsed else "next"
    if overlap == "auto":
        overlap = "both" if elapsed else "first"
    found = set()
    times = [datetime.timedelta(seconds=second) for second in expression.times()]
    date = at(begin).date() - 2 * DAY
    while date <= at(end).date() + 2 * DAY:
        if expression.is_day(date):
            midnight = datetime.datetime.combine(date, datetime.time())
            for time in times:
                found.update(instants_of(zone, midnight + time, changes, gap, overlap))
        date += DAY
    return sorted(instant for instant in found if begin < instant <= end)


# Times that meet most changes; anything random seldom does.
PROBES = ["30 2 * * *", "0 0 * * *", "15 * * * *", "*/10 1-3 * * *", "30 23,0,1 * * *"]


def probes():
    every = lambda date: True
    zero = frozenset([0])
    numbers = [({30}, {2}), ({0}, {0}), ({15}, set(range(24))),
               (set(range(0, 60, 10)), {1, 2, 3}), ({30}, {23, 0, 1})]
    return [expressions.Expression(text, zero, frozenset(minutes), frozenset(hours), every)
            for text, (minutes, hours) in zip(PROBES, numbers)]


def compare_around(cases):
    """Each case: expression, zone name, rules, begin, end. Forwards and backwards."""
    forth, back, wanted = [], [], []
    for expression, name, rules, begin, end in cases:
        right = ticks_between(expression, zoneinfo.ZoneInfo(name), begin, end,
                              transitions_of(name), rules)
        wanted.append(right)
        forth.append(["ticks", expression.text, name, *rules, begin, len(right) + 1])
        back.append(["back", expression.text, name, *rules, end + 1, len(right) + 1])
    for case, right, ahead, behind in zip(cases, wanted, ask(forth), ask(back)):
        where = (case[0].text, *case[1:])
        assert [tick for tick in ahead if tick <= case[4]] == right, where
        assert [tick for tick in behind if tick > case[3]] == right[::-1], where


def test_ticks_agree_around_every_transition():
    rng = random.Random(20260101)
    probe = probes()
    cases = []
    for name in ZONES:
        for change in transitions_of(name):
            for _ in range(SCALE):
                cases.append((rng.choice(probe), name, (rng.choice(GAPS), rng.choice(OVERLAPS)),
                              change - 100000, change + 100000))

    compare_around(cases)


def test_ticks_agree_for_random_expressions_and_transitions():
    rng = random.Random(20260102)
    cases = []
    while len(cases) < 400 * SCALE:
        expression = expressions.generate(rng)
        name = rng.choice(ZONES)
        change = rng.choice(transitions_of(name) or [0])
        begin = change - rng.randrange(10 * 86400)
        cases.append((expression, name, (rng.choice(GAPS), rng.choice(OVERLAPS)), begin,
                      begin + 14 * 86400))
    cases = [case for case in cases if len(case[0].times()) <= 300 and is_possible(case[0])]
    assert len(cases) > 200 * SCALE

    compare_around(cases)


# ---- cron without a zone ----

def is_possible(expression):
    date = datetime.date(2001, 1, 1)
    while date.year < 2029:
        if expression.is_day(date):
            return True
        date += DAY
    return False


def test_expressions_mean_what_counting_finds():
    rng = random.Random(20260103)
    questions, back, wanted = [], [], []
    while len(questions) < 300 * SCALE:
        expression = expressions.generate(rng, with_seconds=rng.random() < 0.3)
        date = datetime.date(rng.randrange(1970, 2090), rng.randrange(1, 13), rng.randrange(1, 29))
        begin = int(datetime.datetime.combine(date, datetime.time(), UTC).timestamp()) - 1
        days = [date + DAY * i for i in range(800)]
        midnights = [begin + 1 + 86400 * i for i, day in enumerate(days) if expression.is_day(day)]
        right = [midnight + time for midnight in midnights[:30] for time in expression.times()]
        if midnights:
            right = right[:100]
            wanted.append(right)
            rest = [expression.text, "UTC", "auto", "auto"]
            questions.append(["ticks", *rest, begin, len(right)])
            back.append(["back", *rest, right[-1] + 1, len(right)])

    for question, answer, right in zip(questions, ask(questions), wanted):
        assert answer == right, question
    for question, answer, right in zip(back, ask(back), wanted):
        assert answer == right[::-1], question


def test_expressions_mean_what_croniter_makes_of_them():
    """Forwards only: backwards, croniter does not see 29 February."""
    rng = random.Random(20260104)
    questions, wanted = [], []
    while len(questions) < 200 * SCALE:
        expression = expressions.generate(rng)
        if not expression.for_croniter or not is_possible(expression):
            continue
        begin = rng.randrange(0, 3000000000)
        other = croniter.croniter(expression.text, at(begin))
        try:
            wanted.append([int(other.get_next(float)) for _ in range(8)])
        except croniter.CroniterBadDateError:  # it gives up on what comes once in many years
            continue
        questions.append(["ticks", expression.text, "UTC", "auto", "auto", begin, 8])

    for question, answer, right in zip(questions, ask(questions), wanted):
        assert answer == right, question
