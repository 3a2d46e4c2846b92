//! Pictures: where the examples' data is, and where what they draw goes. Pixels are rows of bytes, red, green and blue or grey.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// A file of the checkout.
pub fn of_checkout(name: &str) -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join(name)).find(|path| path.exists()).unwrap_or_else(|| name.into())
}

/// `target/NAME` of the checkout; the folder is made.
pub fn path(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = of_checkout("ARCHITECTURE.md").with_file_name("target");
    fs::create_dir_all(&folder)?;
    Ok(folder.join(name))
}

/// A PNG file of the checkout with one byte for each channel of a pixel: height, width and pixels.
pub fn read(name: &str) -> Result<([usize; 2], Vec<u8>), Box<dyn Error>> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(of_checkout(name))?)).read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("too large")?];
    let info = reader.next_frame(&mut pixels)?;
    if info.bit_depth != png::BitDepth::Eight {
        return Err("the picture has other channels than bytes".into());
    }
    Ok(([info.height as usize, info.width as usize], pixels))
}

/// Writes `target/NAME`, of as many bytes per pixel as there are for this height and width: one for grey, three for colours.
pub fn write(name: &str, [height, width]: [usize; 2], pixels: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path(name)?)?), width as u32, height as u32);
    encoder.set_color(if pixels.len() == height * width { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}
