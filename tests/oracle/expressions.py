"""Random cron expressions, each with what it means, built side by side and never parsed."""
import calendar
import dataclasses

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()


@dataclasses.dataclass
class Expression:
    """Its text, the numbers of its time fields, and its days as a question about one date."""

    text: str
    seconds: frozenset
    minutes: frozenset
    hours: frozenset
    is_day: callable
    for_croniter: bool = True  # croniter reads it too, and means the same

    def times(self):
        """Seconds of the day, ascending."""
        return sorted(h * 3600 + m * 60 + s
                      for h in self.hours for m in self.minutes for s in self.seconds)

    def is_every_hour(self):
        return len(self.hours) == 24


def numbers(rng, least, most, names=None):
    """One field: text, numbers, whether croniter reads it."""
    def show(value):
        if names and rng.random() < 0.5:
            name = names[value - least]
            return rng.choice([name, name.lower(), name.title()])
        return str(value)

    form = rng.choice(["*", "*", "one", "one", "list", "range", "step", "steps", "wrap"])
    whole = list(range(least, most + 1))
    first, last = sorted(rng.sample(whole, 2))
    if form == "*":
        return "*", whole, True
    if form == "one":
        return show(first), [first], True
    if form == "list":
        chosen = rng.sample(whole, rng.randint(2, 4))
        return ",".join(show(value) for value in chosen), chosen, True
    if form == "range":
        return f"{show(first)}-{show(last)}", whole[first - least:last - least + 1], True
    step = rng.randint(1, max(2, (most - least) // 2))
    if form == "step":
        return f"*/{step}", whole[::step], True
    if form == "steps":
        chosen = whole[first - least:last - least + 1:step]
        return f"{show(first)}-{show(last)}/{step}", chosen, True
    order = whole[last - least:] + whole[:first - least + 1]
    return f"{show(last)}-{show(first)}", order, False


def length_of(date):
    return calendar.monthrange(date.year, date.month)[1]


def sunday_based(date):
    return date.isoweekday() % 7


def nearest_weekday(date, day):
    """The day of the date's month that `dayW` means, or None."""
    if day > length_of(date):
        return None
    candidates = [other for other in range(1, length_of(date) + 1)
                  if date.replace(day=other).isoweekday() <= 5]
    return min(candidates, key=lambda other: (abs(other - day), other))


def month_days(rng):
    """Text, question, whether days are left out, whether croniter reads it."""
    form = rng.choice(["plain"] * 6 + ["L", "L-", "W", "LW"])
    if form == "L":
        return "L", lambda date: date.day == length_of(date), True, False
    if form == "L-":
        back = rng.randint(0, 6)
        return f"L-{back}", lambda date: date.day == length_of(date) - back, True, False
    if form == "W":
        day = rng.choice([1, 31, rng.randint(1, 31)])
        return f"{day}W", lambda date: date.day == nearest_weekday(date, day), True, False
    if form == "LW":
        return ("LW", lambda date: date.day == nearest_weekday(date, length_of(date)), True, False)
    text, chosen, known = numbers(rng, 1, 31)
    # croniter forgets days around the end of February when there are days after the 28th.
    known = known and (text == "*" or max(chosen) <= 28)
    return text, lambda date: date.day in chosen, len(set(chosen)) < 31, known


def week_days(rng):
    form = rng.choice(["plain"] * 6 + ["?", "L", "#"])
    day = rng.randint(0, 6)
    if form == "?":
        return "?", lambda date: True, False, False
    if form == "L":
        return (rng.choice([f"{day}L", f"{WEEKDAYS[day]}L"]),
                lambda date: sunday_based(date) == day and date.day > length_of(date) - 7,
                True, False)
    if form == "#":
        nth = rng.randint(1, 5)
        return (rng.choice([f"{day}#{nth}", f"{WEEKDAYS[day]}#{nth}"]),
                lambda date: sunday_based(date) == day and (date.day + 6) // 7 == nth, True, False)
    text, chosen, known = numbers(rng, 0, 6, WEEKDAYS)
    if text == "0" and rng.random() < 0.5:
        text = "7"
    return text, lambda date: sunday_based(date) in chosen, len(set(chosen)) < 7, known


def generate(rng, with_seconds=False):
    """One that is possible."""
    minute, minutes, known_minutes = numbers(rng, 0, 59)
    hour, hours, known_hours = numbers(rng, 0, 23)
    day, is_day, days_left_out, known_days = month_days(rng)
    month, months, known_months = numbers(rng, 1, 12, MONTHS)
    weekday, is_weekday, weekdays_left_out, known_weekdays = week_days(rng)
    second, seconds = "", [0]
    if with_seconds:
        second, seconds, _ = numbers(rng, 0, 59)

    def right_day(date):
        if date.month not in months:
            return False
        if days_left_out and weekdays_left_out:
            return is_day(date) or is_weekday(date)
        return is_day(date) and is_weekday(date)

    known = (known_minutes and known_hours and known_days and known_months and known_weekdays
             and not with_seconds)
    return Expression(" ".join([second, minute, hour, day, month, weekday]).strip(),
                      frozenset(seconds), frozenset(minutes), frozenset(hours), right_day, known)
