//! Pictures: paths of the examples' data and output. Pixels are rows of bytes, RGB or grey; plots
//! are SVG.

use plotters::prelude::*;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// The path of a file in the checkout.
pub fn of_checkout(name: &str) -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join(name)).find(|path| path.exists()).unwrap_or_else(|| name.into())
}

/// The path `target/NAME` in the checkout; creates the folder.
pub fn path(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = of_checkout("ARCHITECTURE.md").with_file_name("target");
    fs::create_dir_all(&folder)?;
    Ok(folder.join(name))
}

/// Reads a PNG file of the checkout, with one byte per channel: height, width and pixels.
pub fn read(name: &str) -> Result<([usize; 2], Vec<u8>), Box<dyn Error>> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(of_checkout(name))?)).read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("too large")?];
    let info = reader.next_frame(&mut pixels)?;
    if info.bit_depth != png::BitDepth::Eight {
        return Err("the picture has other channels than bytes".into());
    }
    Ok(([info.height as usize, info.width as usize], pixels))
}

/// Writes `target/NAME`. The number of bytes per pixel follows from height and width: one for grey, three for colours.
pub fn write(name: &str, [height, width]: [usize; 2], pixels: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path(name)?)?), width as u32, height as u32);
    encoder.set_compression(png::Compression::High);
    encoder.set_color(if pixels.len() == height * width { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}

/// Points of a plot, and their style.
#[derive(Debug)]
pub struct Series {
    /// The label in the legend.
    pub label: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// Red, green and blue.
    pub color: [u8; 3],
    /// The width of the line; 0 for dots.
    pub width: u32,
}

/// Draws `target/NAME`, an SVG file of 720 by 400 pixels; later series are drawn over earlier ones. The axes have labels, that of `x` first.
pub fn plot(name: &str, title: &str, [x, y]: [&str; 2], series: &[Series]) -> Result<(), Box<dyn Error>> {
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let all = series.iter().flat_map(|s| s.points.iter().map(of));
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
    };
    let ([left, right], [low, high]) = (ends(|p| p.0), ends(|p| p.1));
    let room = (high - low) * 0.05;
    let path = path(name)?;
    let area = SVGBackend::new(&path, (720, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20))
        .margin(15)
        .x_label_area_size(45)
        .y_label_area_size(55)
        .build_cartesian_2d(left..right, low - room..high + room)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(x).y_desc(y).x_label_formatter(&|v| v.to_string()).y_label_formatter(&|v| v.to_string());
    mesh.light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.12)).label_style(("sans-serif", 14)).draw()?;
    for &Series { ref label, ref points, color: [red, green, blue], width } in series {
        let style = RGBColor(red, green, blue).stroke_width(width.max(1)).filled();
        let drawn = match width {
            0 => chart.draw_series(points.iter().map(|&at| Circle::new(at, 2, style)))?,
            _ => chart.draw_series(LineSeries::new(points.iter().copied(), style))?,
        };
        drawn.label(label).legend(move |(x, y)| match width {
            0 => Circle::new((x + 9, y), 3, style).into_dyn(),
            _ => PathElement::new([(x, y), (x + 18, y)], style).into_dyn(),
        });
    }
    let mut legend = chart.configure_series_labels();
    legend.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).label_font(("sans-serif", 14));
    legend.draw()?;
    area.present()?;
    Ok(())
}
