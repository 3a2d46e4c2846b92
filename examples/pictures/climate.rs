//! A year of hourly temperatures as an array of days and hours: one jitted function computes each day's mean, range and
//! standard score, a moving average over a week, and the days and the hour with extremes. Prints them with their dates and
//! draws them as SVG:
//!
//! `cargo run --release -p ndjit-pictures --bin climate -- [plot.svg [temperatures.csv]]`

use ndjit::{Array, Expr, argmax, argmin, jit, max, mean, min, roll, sliding_window, std, where_};
use ndjit_pictures as picture;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HOURS: usize = 24;
/// Days in the moving average.
const WEEK: usize = 7;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The contents of the file.
#[derive(Debug, Default)]
struct Record {
    /// `year/month/day` of each day.
    dates: Vec<String>,
    /// The first day of each month, and the month's index in [`MONTHS`].
    months: Vec<(usize, usize)>,
    /// In °F, hour by hour; NaN for missing values.
    fahrenheit: Vec<f32>,
}

/// The results, in °C: [`Expr`]s inside the traced function, [`Array`]s for its caller.
struct Climate<T> {
    mean: T,
    low: T,
    high: T,
    range: T,
    score: T,
    weekly: T,
    year: [T; 2],
    hottest_day: T,
    coldest_day: T,
    hottest_hour: T,
}

ndjit::outputs!(Climate<Expr> => Climate<Array> {
    mean, low, high, range, score, weekly, year, hottest_day, coldest_day, hottest_hour
});

fn climate(fahrenheit: Expr) -> Climate<Expr> {
    let celsius = (fahrenheit - 32) / 1.8;
    // A single missing hour becomes the mean of the adjacent hours.
    let neighbours = (roll(celsius, 1, 0) + roll(celsius, -1, 0)) / 2;
    let hourly = where_(celsius.isnan(), neighbours, celsius);
    let days = hourly.reshape([-1, HOURS as isize]);
    let (daily, low, high) = (mean(days, 1), min(days, 1), max(days, 1));
    let year = [mean(daily, ..), std(daily, ..)];
    Climate {
        mean: daily,
        low,
        high,
        range: high - low,
        score: (daily - year[0]) / year[1],
        weekly: mean(sliding_window(daily, WEEK, 0), -1),
        year,
        hottest_day: argmax(daily, ..),
        coldest_day: argmin(daily, ..),
        hottest_hour: argmax(hourly, ..),
    }
}

/// Reads lines of `year/month/day hour:00,temperature` below a heading.
fn read(text: &str) -> Result<Record, String> {
    let mut record = Record::default();
    for (i, line) in text.lines().enumerate().skip(1) {
        let wrong = |what: &str| format!("line {}: {what}: `{line}`", i + 1);
        let [date, time, value] = line.split([' ', ',']).collect::<Vec<_>>()[..] else {
            return Err(wrong("not of the form `2010/01/31 23:00,39.5`"));
        };
        let month = date.split('/').nth(1).and_then(|m| m.parse::<usize>().ok()).filter(|m| (1..=12).contains(m));
        let month = month.ok_or_else(|| wrong("no month from 01 to 12"))? - 1;
        let hour = time.strip_suffix(":00").and_then(|h| h.parse().ok()).filter(|&h: &usize| h < HOURS);
        let hour = hour.ok_or_else(|| wrong("no hour from 00:00 to 23:00"))?;
        let value = value.parse().ok().filter(|v: &f32| v.is_finite()).ok_or_else(|| wrong("no temperature"))?;
        if record.dates.last().is_none_or(|last| last != date) {
            if record.dates.last().is_some_and(|last| last.as_str() > date) {
                return Err(wrong("an earlier day than that of the line before"));
            }
            if record.months.last().is_none_or(|last| last.1 != month) {
                record.months.push((record.dates.len(), month));
            }
            record.dates.push(date.to_owned());
            record.fahrenheit.extend([f32::NAN; HOURS]);
        }
        let first = record.fahrenheit.len() - HOURS;
        let slot = &mut record.fahrenheit[first + hour];
        if !slot.is_nan() {
            return Err(wrong("an hour that a line before has"));
        }
        *slot = value;
    }
    match record.dates.len() {
        days if days < WEEK => Err(format!("{days} days; a moving average needs {WEEK}")),
        _ => Ok(record),
    }
}

/// Draws days from left to right, degrees upwards.
fn plot(path: &Path, record: &Record, climate: &Climate<Array>) -> Result<(), Box<dyn Error>> {
    let [mean, low, high, weekly] =
        [&climate.mean, &climate.low, &climate.high, &climate.weekly].map(Array::to_vec::<f32>);
    let (mean, low, high, weekly) = (mean?, low?, high?, weekly?);
    let along = |values: &[f32]| values.iter().enumerate().map(|(day, &v)| (day, v)).collect::<Vec<_>>();
    let [bottom, top] = [low.iter().copied().fold(0.0, f32::min), high.iter().copied().fold(0.0, f32::max)];

    let area = SVGBackend::new(path, (1000, 500)).into_drawing_area();
    area.fill(&WHITE)?;
    let months: Vec<usize> = record.months.iter().map(|&(day, _)| day).collect();
    let mut chart = ChartBuilder::on(&area)
        .caption("Seattle, temperatures of a year", ("sans-serif", 22))
        .margin(15)
        .x_label_area_size(35)
        .y_label_area_size(55)
        .build_cartesian_2d((0..mean.len() - 1).with_key_points(months), bottom - 1.0..top + 4.0)?;
    let month = |day: &usize| {
        record.months.iter().find(|(first, _)| first == day).map_or(String::new(), |&(_, m)| MONTHS[m].to_owned())
    };
    chart
        .configure_mesh()
        .x_label_formatter(&month)
        .y_label_formatter(&|degrees| format!("{degrees:.0}"))
        .y_desc("°C")
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .label_style(("sans-serif", 14))
        .draw()?;

    let (band, week, line, mark) = (RGBColor(200, 221, 240), RGBColor(245, 170, 60), RGBColor(20, 40, 80), RED);
    let outline: Vec<(usize, f32)> = along(&high).into_iter().chain(along(&low).into_iter().rev()).collect();
    let sample = |(x, y): (i32, i32), color: RGBColor| Rectangle::new([(x, y - 4), (x + 18, y + 4)], color.filled());
    let stroke = |(x, y): (i32, i32), style: ShapeStyle| PathElement::new([(x, y), (x + 18, y)], style);
    chart
        .draw_series([Polygon::new(outline, band)])?
        .label("from the coldest hour to the hottest")
        .legend(move |at| sample(at, band));
    // The line of days is drawn over the wide one.
    let centred = along(&weekly).into_iter().map(|(day, v)| (day + WEEK / 2, v));
    chart
        .draw_series(LineSeries::new(centred, week.stroke_width(7)))?
        .label("mean of seven days")
        .legend(move |at| stroke(at, week.stroke_width(7)));
    chart
        .draw_series(LineSeries::new(along(&mean), line.stroke_width(1)))?
        .label("mean of the day")
        .legend(move |at| stroke(at, line.stroke_width(1)));
    let day = climate.hottest_day.item::<i32>()? as usize;
    let at = (day, mean[day]);
    chart.draw_series([Circle::new(at, 5, mark.filled())])?;
    chart.draw_series([PathElement::new([at, (day, high[day] + 1.0)], mark)])?;
    let style = ("sans-serif", 14).into_font().color(&mark).pos(Pos::new(HPos::Center, VPos::Bottom));
    let text = format!("hottest day: {}, {:.1} °C", record.dates[day], mean[day]);
    chart.draw_series([Text::new(text, (day, high[day] + 1.2), style)])?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .label_font(("sans-serif", 14))
        .draw()?;
    area.present()?;
    Ok(())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let picture = arguments.next().map_or_else(|| picture::path("climate.svg"), Ok)?;
    let file = arguments.next().unwrap_or_else(|| picture::of_checkout("examples/pictures/data/seattle-temps.csv"));
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(&file).map_err(|e| named(&e))?;
    let record = read(&text).map_err(|e| named(&e))?;

    let f = jit(climate);
    let found = f.call((&record.fahrenheit,))?;
    let means = found.mean.to_vec::<f32>()?;
    if let Some(day) = means.iter().position(|m| m.is_nan()) {
        return Err(named(&format!("{}: two hours are missing in a row", record.dates[day])).into());
    }
    let (low, high) = (found.low.to_vec::<f32>()?, found.high.to_vec::<f32>()?);
    let (range, score) = (found.range.to_vec::<f32>()?, found.score.to_vec::<f32>()?);
    let missing = record.fahrenheit.iter().filter(|t| t.is_nan()).count();
    let [mean, deviation] = &found.year;
    println!("{} days of {HOURS} hours, {missing} of them missing in the file", means.len());
    println!("year:          {:.1} °C, days deviate by {:.1} °C", mean.item::<f32>()?, deviation.item::<f32>()?);
    for (what, day) in [("hottest", &found.hottest_day), ("coldest", &found.coldest_day)] {
        let day = day.item::<i32>()? as usize;
        let (date, mean, score) = (&record.dates[day], means[day], score[day]);
        let (low, high, range) = (low[day], high[day], range[day]);
        println!(
            "{what} day:   {date}, {mean:.1} °C (score {score:+.2}), {low:.1} to {high:.1} °C, a range of {range:.1} °C"
        );
    }
    let hour = found.hottest_hour.item::<i32>()? as usize;
    println!("hottest hour:  {} {:02}:00, {:.1} °C", record.dates[hour / HOURS], hour % HOURS, high[hour / HOURS]);
    println!("computed by:   one function of {} kernels", f.kernels().len());

    plot(&picture, &record, &found).map_err(|e| format!("{}: {e}", picture.display()))?;
    println!("plot:          {}", picture.display());
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("climate: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/examples.md shows it; README_BLESS=1 draws it anew.
    #[test]
    fn the_picture_is_that_of_the_page() {
        let text = std::fs::read_to_string(picture::of_checkout("examples/pictures/data/seattle-temps.csv"))
            .expect("the data");
        let record = read(&text).expect("reads");
        let found = jit(climate).call((&record.fahrenheit,)).expect("runs");
        let (drawn, shown) =
            (picture::path("climate-test.svg").expect("a folder"), picture::of_checkout("docs/examples/climate.svg"));
        let to = if std::env::var_os("README_BLESS").is_some() { &shown } else { &drawn };
        plot(to, &record, &found).expect("draws");
        let [drawn, shown] = [to, &shown].map(|path| std::fs::read_to_string(path).expect("a picture"));
        assert!(drawn == shown, "docs/examples/climate.svg is not what the example draws");
    }

    /// A file of `days` days at 50 °F, except where `change` returns a value.
    fn file(days: usize, change: impl Fn(usize, usize) -> Option<String>) -> String {
        let hour = |d, h| change(d, h).unwrap_or_else(|| format!("2010/01/{:02} {h:02}:00,50\n", d + 1));
        let hours = (0..days).flat_map(|d| (0..HOURS).map(move |h| (d, h)));
        "date,temp\n".to_owned() + &hours.map(|(d, h)| hour(d, h)).collect::<String>()
    }

    #[test]
    fn a_missing_hour_is_the_mean_of_its_neighbours() {
        let text = file(7, |d, h| match (d, h) {
            (3, 0) => Some(String::new()),
            (3, 1) => Some("2010/01/04 01:00,68\n".to_owned()),
            _ => None,
        });
        let found = jit(climate).call((&read(&text).expect("reads").fahrenheit,)).expect("runs");
        let means = found.mean.to_vec::<f32>().expect("means");
        assert_eq!([means[0], means[3]], [10.0, (22.0 * 10.0 + 15.0 + 20.0) / 24.0]);
        assert_eq!(found.hottest_day.item::<i32>().expect("a day"), 3);
        assert_eq!(found.hottest_hour.item::<i32>().expect("an hour"), 3 * 24 + 1);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_line() {
        let cases = [
            ("2010/01/02 05:00", "line 31: not of the form `2010/01/31 23:00,39.5`: `2010/01/02 05:00`"),
            ("2010/13/02 05:00,50", "line 31: no month from 01 to 12: `2010/13/02 05:00,50`"),
            ("2010/01/02 24:00,50", "line 31: no hour from 00:00 to 23:00: `2010/01/02 24:00,50`"),
            ("2010/01/02 05:00,inf", "line 31: no temperature: `2010/01/02 05:00,inf`"),
            ("2010/01/01 05:00,50", "line 31: an earlier day than that of the line before: `2010/01/01 05:00,50`"),
            ("2010/01/02 04:00,50", "line 31: an hour that a line before has: `2010/01/02 04:00,50`"),
        ];
        for (line, message) in cases {
            let text = file(7, |d, h| ((d, h) == (1, 5)).then(|| format!("{line}\n")));
            assert_eq!(read(&text).expect_err("an error"), message);
        }
        assert_eq!(read("").expect_err("an error"), "0 days; a moving average needs 7");
    }
}
